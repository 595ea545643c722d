//! The page: machine and settings, claims, charts, and a table of all figures.

use std::fmt::Write;

use super::charts::charts;
use super::svg::{escape, figure, number};
use crate::figure::{Figure, Run, Spread};

/// Returns the whole page.
pub(crate) fn page(run: &Run) -> String {
    let mut out = String::new();
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <link rel=\"icon\" href=\"data:,\"><title>Point reads compared</title>\
         <style>{STYLE}</style></head><body><main>\n<h1>Point reads compared</h1>\n"
    );
    if !run.is_finished {
        let stage = run.stages.last().map_or("the first stage", |stage| &*stage.name);
        let _ = write!(
            out,
            "<p id=\"unfinished\"><strong>Unfinished</strong>: what was measured up to “{}”.</p>",
            escape(stage)
        );
    }
    about(&mut out, run);
    claims(&mut out, run);
    for chart in charts(run) {
        out.push_str(&figure(&chart));
    }
    figures(&mut out, &run.figures);
    out.push_str("</main></body></html>\n");
    out
}

fn about(out: &mut String, run: &Run) {
    let machine = &run.machine;
    let _ = write!(
        out,
        "<p><code>{}</code></p><p>{}, {} processors, {:.0} GiB, Linux {}; load {} before and {} \
         after; huge pages: {}. It took {:.0} s.</p><ul>",
        escape(&run.command),
        escape(&machine.processor),
        machine.processors,
        machine.memory_gib,
        escape(&machine.kernel),
        machine.load_before,
        machine.load_after,
        escape(&machine.transparent_huge_pages),
        run.seconds,
    );
    for setting in &run.settings {
        let _ = write!(out, "<li>{}</li>", escape(setting));
    }
    out.push_str("</ul>\n<details><summary>What took how long</summary><table><tbody>");
    for stage in &run.stages {
        let _ = write!(out, "<tr><td>{}<td>{:.1} s</tr>", escape(&stage.name), stage.seconds);
    }
    out.push_str("</tbody></table></details>\n");
}

fn claims(out: &mut String, run: &Run) {
    if run.claims.is_empty() {
        out.push_str("<p>No other engine took part, so nothing is claimed.</p>\n");
        return;
    }
    out.push_str(
        "<h2>Ratios</h2><p>Ours over the best of a peer's settings: the median of the rounds and its \
         quartiles. A limit between the quartiles is unresolved.</p><table class=\"claims\"><thead><tr><th>what\
         <th>cache<th>ours<th>theirs<th>ratio<th>quartiles<th>limit<th></tr></thead><tbody>",
    );
    for claim in &run.claims {
        let Spread { low, median, high } = claim.ratio;
        let _ = write!(
            out,
            "<tr class=\"{}\"><td>{}<td>{}<td>{}<td>{}<td>{median:.2}<td>{low:.2} – {high:.2}<td>{}<td>{}</tr>",
            claim.verdict,
            escape(&claim.what),
            escape(&claim.cache),
            escape(&claim.ours),
            escape(&claim.theirs),
            claim.limit,
            claim.verdict,
        );
    }
    out.push_str("</tbody></table>\n<h2>Charts</h2>\n");
}

fn figures(out: &mut String, figures: &[Figure]) {
    out.push_str(
        "<details><summary>All figures</summary><table><thead><tr><th>work<th>shape<th>rows<th>files\
         <th>contender<th>cache<th>threads<th>median<th>quartiles<th>CPU<th>data blocks\
         <th>filters asked<th>false positives<th>bits a key</tr></thead><tbody>",
    );
    let given = |it: Option<f64>| it.map_or_else(|| "–".to_owned(), number);
    for it in figures {
        let Some(Spread { low, median, high }) = Spread::of(&it.wall) else { continue };
        let _ = write!(
            out,
            "<tr><td>{} {}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{} {}<td>{} – {}<td>{}<td>{}<td>{}\
             <td>{}<td>{}</tr>",
            escape(&it.work),
            it.asked.as_deref().unwrap_or_default(),
            it.shape,
            number(it.rows as f64),
            given(it.files.map(|files| files as f64)),
            escape(&it.contender),
            it.cache,
            it.threads,
            number(median),
            it.unit,
            number(low),
            number(high),
            given(Spread::of(&it.cpu).map(|cpu| cpu.median)),
            given(it.reads.data_blocks),
            given(it.reads.filter_checks),
            given(it.reads.false_positives),
            given(it.filter_bits_per_key),
        );
    }
    out.push_str("</tbody></table></details>\n");
}

/// Colours that people with colour blindness can distinguish (Okabe and Ito), lighter in the dark
/// scheme.
const STYLE: &str = "\
:root{color-scheme:light dark;--ground:#fff;--ink:#1b1b1b;--faint:#d9d9d9;--quiet:#5c5c5c;\
--c0:#b3450a;--c1:#a0720a;--c2:#0072b2;--c3:#00755a;--c4:#9a4b80;--c5:#2b7fb0;--c6:#6b6b00;--c7:#444;--c8:#a3143c}\
@media(prefers-color-scheme:dark){:root{--ground:#16181c;--ink:#e8e8e8;--faint:#3a3d44;--quiet:#a4a8b0;\
--c0:#ff8a4c;--c1:#f0c040;--c2:#6cb6ff;--c3:#3fd0a5;--c4:#e59ccb;--c5:#9fd4f5;--c6:#d9d96a;--c7:#bbb;--c8:#ff8fa8}}\
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}\
main{max-width:60rem;margin:auto;padding:1rem}h1{font-size:1.6rem}h3{margin:0}\
figure{margin:2rem 0}figure p{margin:.2rem 0;color:var(--quiet)}svg{width:100%;height:auto}\
.grid{stroke:var(--faint);fill:none}.axis{stroke:var(--quiet);fill:none}\
.tick{fill:var(--quiet);font-size:12px}.label{fill:var(--ink);font-size:13px}\
.line{fill:none;stroke-width:2}.bound{fill:none;stroke-width:2;stroke-dasharray:6 4}\
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;padding:0;margin:.3rem 0;font-size:14px}\
.key{display:inline-block;width:.8em;height:.8em;border-radius:50%;margin-right:.4em;vertical-align:-.05em}\
table{border-collapse:collapse;font-size:14px;display:block;overflow-x:auto}\
th,td{text-align:left;padding:.15rem .6rem;border-bottom:1px solid var(--faint);white-space:nowrap}.claims td{white-space:normal}\
.held td:last-child{color:var(--c3)}.missed td:last-child{color:var(--c0)}\
path.s0{stroke:var(--c0)}path.s1{stroke:var(--c1)}path.s2{stroke:var(--c2)}path.s3{stroke:var(--c3)}\
path.s4{stroke:var(--c4)}path.s5{stroke:var(--c5)}path.s6{stroke:var(--c6)}path.s7{stroke:var(--c7)}path.s8{stroke:var(--c8)}\
circle.s0{fill:var(--c0)}circle.s1{fill:var(--c1)}circle.s2{fill:var(--c2)}circle.s3{fill:var(--c3)}\
circle.s4{fill:var(--c4)}circle.s5{fill:var(--c5)}circle.s6{fill:var(--c6)}circle.s7{fill:var(--c7)}circle.s8{fill:var(--c8)}\
.key.s0{background:var(--c0)}.key.s1{background:var(--c1)}.key.s2{background:var(--c2)}\
.key.s3{background:var(--c3)}.key.s4{background:var(--c4)}.key.s5{background:var(--c5)}\
.key.s6{background:var(--c6)}.key.s7{background:var(--c7)}.key.s8{background:var(--c8)}";
