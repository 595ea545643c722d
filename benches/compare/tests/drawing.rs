//! The elements of a drawing in the page, and where they are.

/// A drawing of a chart: its class and the text of its element.
#[derive(Clone, Copy)]
pub(crate) struct Drawing<'p> {
    svg: &'p str,
}

/// A rectangle in the coordinates of a drawing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

/// A label of a drawing. Its area is as large as the widest common font makes it.
#[derive(Debug)]
pub(crate) struct Label<'p> {
    pub(crate) text: &'p str,
    pub(crate) area: Area,
}

impl Area {
    pub(crate) fn centre(self) -> [f64; 2] {
        [f64::midpoint(self.left, self.right), f64::midpoint(self.top, self.bottom)]
    }

    pub(crate) fn is_inside(self, other: Self) -> bool {
        self.left >= other.left - 1.0
            && self.right <= other.right + 1.0
            && self.top >= other.top - 1.0
            && self.bottom <= other.bottom + 1.0
    }

    pub(crate) fn touches(self, other: Self) -> bool {
        self.left < other.right - 1.0
            && other.left < self.right - 1.0
            && self.top < other.bottom - 3.0
            && other.top < self.bottom - 3.0
    }
}

/// Returns the value of an attribute of the first element of a text.
pub(crate) fn attribute<'p>(element: &'p str, name: &str) -> &'p str {
    let head = element.split('>').next().expect("an element");
    let (_, value) = head.split_once(&format!(" {name}=\"")).unwrap_or_else(|| panic!("{head}"));
    value.split('"').next().expect("it ends")
}

/// Returns the text between the two parts that enclose it.
pub(crate) fn between<'p>(text: &'p str, before: &str, after: &str) -> &'p str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before} in {text}"));
    rest.split_once(after).unwrap_or_else(|| panic!("no {after} after {before}")).0
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

impl<'p> Drawing<'p> {
    /// Returns the drawings of a figure.
    pub(crate) fn all(figure: &'p str) -> Vec<Self> {
        let drawings = figure.split("<svg class=\"chart ").skip(1);
        drawings.map(|svg| Self { svg: svg.split("</svg>").next().expect("it ends") }).collect()
    }

    pub(crate) fn class(self) -> &'p str {
        self.svg.split('"').next().expect("a class")
    }

    pub(crate) fn text(self) -> &'p str {
        self.svg
    }

    /// Returns the drawing's own area, the `viewBox`.
    pub(crate) fn area(self) -> Area {
        let numbers: Vec<_> = attribute(self.svg, "viewBox").split(' ').map(number).collect();
        let [left, top, width, height] = numbers[..] else { panic!("{numbers:?}") };
        Area { left, right: left + width, top, bottom: top + height }
    }

    pub(crate) fn labels(self) -> Vec<Label<'p>> {
        let font_size = number(attribute(self.svg, "font-size"));
        let label = |element: &'p str| {
            let text = between(element, ">", "<");
            let width = text.chars().count() as f64 * font_size * 0.64;
            let [x, bottom] = ["x", "y"].map(|name| number(attribute(element, name)));
            let left = match attribute(element, "text-anchor") {
                "start" => x,
                "middle" => x - width / 2.0,
                _ => x - width,
            };
            Label {
                text,
                area: Area { left, right: left + width, top: bottom - font_size, bottom },
            }
        };
        self.svg.split("<text").skip(1).map(label).collect()
    }

    /// Returns the areas of the paths whose class begins so.
    pub(crate) fn paths(self, class: &'p str) -> impl Iterator<Item = Area> {
        let paths = self.svg.split("<path").skip(1);
        let paths = paths.filter(move |path| attribute(path, "class").starts_with(class));
        paths.map(|path| path_area(attribute(path, "d")))
    }
}

/// Returns the area of the points of a path.
fn path_area(path: &str) -> Area {
    let [mut x, mut y] = [0.0; 2];
    let mut area = Area {
        left: f64::INFINITY,
        right: f64::NEG_INFINITY,
        top: f64::INFINITY,
        bottom: f64::NEG_INFINITY,
    };
    let steps = path.split_inclusive(|letter: char| letter.is_ascii_alphabetic());
    // Each part ends with the letter of the next step.
    let mut step = ' ';
    for part in steps {
        let numbers = part.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        let numbers: Vec<_> = numbers.split_whitespace().map(number).collect();
        match (step, &numbers[..]) {
            ('H', [to]) => x = *to,
            ('V', [to]) => y = *to,
            ('M' | 'L' | 'A', [.., to_x, to_y]) => [x, y] = [*to_x, *to_y],
            (' ' | 'Z', []) => {}
            _ => panic!("{path}"),
        }
        if !numbers.is_empty() {
            area.left = area.left.min(x);
            area.right = area.right.max(x);
            area.top = area.top.min(y);
            area.bottom = area.bottom.max(y);
        }
        step = part.chars().last().expect("a step");
    }
    area
}
