//! The information-theoretic lower bound on the size of a filter.

/// Returns the fewest bits per key that any filter with this error rate needs, log2(1/ε).
pub fn bits_per_key_floor(error_rate: f64) -> f64 {
    -libm::log2(error_rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_at_one_per_cent_is_six_and_two_thirds_bits() {
        assert!((bits_per_key_floor(0.01) - 6.643_856).abs() < 1e-6);
    }
}
