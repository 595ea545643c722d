//! Markers. Each form has a colour of its own, so that no chart depends on colour.
//!
//! The colours are those of Okabe and Ito, which people with colour blindness can distinguish; the
//! page defines them per scheme as the classes `k0`, `k1`, …

/// The form of a marker.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Form {
    Circle,
    Square,
    Triangle,
    Diamond,
    /// A triangle that stands on its tip.
    Wedge,
}

/// The inside of a marker.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Fill {
    Full,
    Hollow,
    /// Hollow, with a line across.
    Barred,
    /// Hollow, with two lines across.
    Crossed,
}

/// A marker.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Mark {
    colour: usize,
    form: Form,
    fill: Fill,
}

const FORMS: [Form; 5] = [Form::Circle, Form::Square, Form::Triangle, Form::Diamond, Form::Wedge];
const FILLS: [Fill; 4] = [Fill::Full, Fill::Hollow, Fill::Barred, Fill::Crossed];

impl Mark {
    /// The number of forms, which have a colour each.
    pub const FORMS: usize = FORMS.len();
    /// The number of fills.
    pub const FILLS: usize = FILLS.len();

    /// Returns the marker with a form and a fill by their numbers, which repeat.
    pub const fn new(form: usize, fill: usize) -> Self {
        let form = form % Self::FORMS;
        Self { colour: form, form: FORMS[form], fill: FILLS[fill % Self::FILLS] }
    }

    /// Returns the classes of the marker's elements.
    pub(super) fn class(self) -> String {
        let fill = match self.fill {
            Fill::Full => "full",
            Fill::Hollow => "hollow",
            Fill::Barred => "hollow barred",
            Fill::Crossed => "hollow crossed",
        };
        format!("k{} {fill}", self.colour)
    }

    /// Returns the path of the marker around a centre.
    pub(super) fn path(self, [x, y]: [f64; 2], radius: f64) -> String {
        let at = |dx: f64, dy: f64| format!("{:.1} {:.1}", x + dx * radius, y + dy * radius);
        let form = match self.form {
            Form::Circle => format!(
                "M{}A{radius} {radius} 0 1 1 {}A{radius} {radius} 0 1 1 {}Z",
                at(-1.0, 0.0),
                at(1.0, 0.0),
                at(-1.0, 0.0)
            ),
            Form::Square => polygon(&[at(-0.9, -0.9), at(0.9, -0.9), at(0.9, 0.9), at(-0.9, 0.9)]),
            Form::Triangle => polygon(&[at(0.0, -1.1), at(1.05, 0.8), at(-1.05, 0.8)]),
            Form::Diamond => polygon(&[at(0.0, -1.2), at(1.2, 0.0), at(0.0, 1.2), at(-1.2, 0.0)]),
            Form::Wedge => polygon(&[at(0.0, 1.1), at(1.05, -0.8), at(-1.05, -0.8)]),
        };
        let inside = match self.fill {
            Fill::Full | Fill::Hollow => String::new(),
            Fill::Barred => format!("M{}L{}", at(-0.9, 0.0), at(0.9, 0.0)),
            Fill::Crossed => {
                let [left, right] = [at(-0.9, 0.0), at(0.9, 0.0)];
                format!("M{left}L{right}M{}L{}", at(0.0, -0.9), at(0.0, 0.9))
            }
        };
        form + &inside
    }

    /// Returns the marker as an image for a legend.
    pub(super) fn image(self) -> String {
        format!(
            "<svg class=\"key\" viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path class=\"mark {}\" \
             d=\"{}\"/></svg>",
            self.class(),
            self.path([8.0, 8.0], 5.0)
        )
    }
}

fn polygon(corners: &[String]) -> String {
    format!("M{}Z", corners.join("L"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn all_markers_differ() {
        let all = (0..Mark::FORMS)
            .flat_map(|form| (0..Mark::FILLS).map(move |fill| Mark::new(form, fill)));
        let marks: HashSet<_> = all.collect();
        assert_eq!(marks.len(), Mark::FORMS * Mark::FILLS);
    }
}
