//! The commands of a console block, each with the output that the page shows.

use crate::page::Block;

/// A command of a page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Example {
    pub(crate) line: usize,
    /// What the shell gets: a command may continue on further lines.
    pub(crate) command: String,
    /// The exit status that the page states, or 0.
    pub(crate) status: i32,
    /// The lines that follow the command; without any, the output is not compared.
    pub(crate) output: Vec<String>,
}

/// Returns the commands of a block.
///
/// A line with the prompt `$ ` is a command, and the lines up to the next prompt are its output. The
/// attribute `status-N` states the exit status of all commands, `status N` in the comment of a command its exit
/// status.
///
/// # Errors
///
/// Names the line of output before the first command, and a status that is not a number.
pub(crate) fn examples(block: &Block) -> Result<Vec<Example>, String> {
    let number = |text: &str| {
        let digits = text.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
        digits.parse().map_err(|_| format!("line {}: no status: {text}", block.line))
    };
    let status = block.attribute("status-").map_or(Ok(0), number)?;
    let mut examples: Vec<Example> = Vec::new();
    let mut continues = false;
    for (line, text) in (block.line + 1..).zip(&block.lines) {
        if let Some(command) = text.strip_prefix("$ ") {
            examples.push(Example { line, command: command.to_owned(), status, output: vec![] });
        } else {
            let last = examples.last_mut().ok_or(format!("line {line}: output of no command"))?;
            if continues {
                last.command = format!("{}\n{text}", last.command);
            } else {
                last.output.push(text.clone());
            }
        }
        let command = examples.last().filter(|last| last.output.is_empty());
        continues = command.is_some_and(|last| last.command.ends_with('\\'));
    }
    for example in &mut examples {
        let comment = example.command.rsplit_once(" # ").map(|(_, comment)| comment);
        if let Some((_, stated)) = comment.and_then(|comment| comment.split_once("status ")) {
            example.status = number(stated)?;
        }
        while example.output.last().is_some_and(String::is_empty) {
            example.output.pop();
        }
    }
    Ok(examples)
}
