//! Where markers go, so that none covers another.

/// Returns the horizontal shift of each marker in pixels.
///
/// Markers keep their height. A marker closer than `distance` to an earlier one is shifted to the
/// nearest free place between `low` and `high`; without one it stays.
pub(super) fn shifts(places: &[[f64; 2]], distance: f64, [low, high]: [f64; 2]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    let by_place = |a: &usize, b: &usize| {
        let ([ax, ay], [bx, by]) = (places[*a], places[*b]);
        ax.total_cmp(&bx).then(ay.total_cmp(&by))
    };
    order.sort_by(by_place);
    let mut shifts = vec![0.0; places.len()];
    let mut taken: Vec<[f64; 2]> = Vec::new();
    for at in order {
        let [x, y] = places[at];
        let is_free = |shift: &f64| {
            let x = x + shift;
            (low..=high).contains(&x)
                && taken.iter().all(|[tx, ty]| (tx - x).hypot(ty - y) >= distance)
        };
        let steps = (1..=STEPS_MAX).flat_map(|step| [f64::from(step), -f64::from(step)]);
        let shift = std::iter::once(0.0).chain(steps.map(|step| step * STEP)).find(is_free);
        shifts[at] = shift.unwrap_or(0.0);
        taken.push([x + shifts[at], y]);
    }
    shifts
}

/// Pixels of a step to the side.
const STEP: f64 = 1.0;
/// The largest number of steps.
const STEPS_MAX: u32 = 120;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_at_one_place_are_shifted_apart_and_others_stay() {
        let mut places = vec![[50.0, 50.0]; 9];
        places.push([50.0, 90.0]);
        let shifts = shifts(&places, 11.0, [0.0, 120.0]);
        assert_eq!(shifts[9].to_bits(), 0.0_f64.to_bits(), "nothing is near the last one");
        for (a, [ax, ay]) in places.iter().enumerate() {
            for (b, [bx, by]) in places.iter().enumerate().skip(a + 1) {
                let apart = (ax + shifts[a] - bx - shifts[b]).hypot(ay - by);
                assert!(apart >= 11.0, "{a} and {b} are {apart} apart");
            }
            assert!((0.0..=120.0).contains(&(ax + shifts[a])));
        }
    }
}
