//! The confidence interval of a measured error rate.

/// Returns the Wilson score interval of the error rate at three standard deviations.
///
/// It holds for few false positives too, even for none.
pub(super) fn interval(false_positives: usize, probes: usize) -> [f64; 2] {
    const DEVIATIONS: f64 = 3.0;
    if probes == 0 {
        return [0.0, 1.0];
    }
    let (count, rate) = (probes as f64, false_positives as f64 / probes as f64);
    let square = DEVIATIONS * DEVIATIONS;
    let middle = rate + square / (2.0 * count);
    let spread = DEVIATIONS * (rate * (1.0 - rate) / count + square / (4.0 * count * count)).sqrt();
    let scale = 1.0 + square / count;
    [((middle - spread) / scale).max(0.0), ((middle + spread) / scale).min(1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_contains_the_rate_and_narrows() {
        let [low, high] = interval(100, 10_000);
        assert!(low < 0.01 && 0.01 < high);
        let [lower, higher] = interval(10_000, 1_000_000);
        assert!(low < lower && higher < high);
        assert!(interval(0, 100)[0] <= 0.0);
        assert!(interval(0, 100)[1] > 0.0);
    }
}
