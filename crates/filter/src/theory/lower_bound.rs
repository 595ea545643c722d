//! The information-theoretic lower bound of every filter.

/// Returns log2(1/ε): no filter that errs this often takes fewer bits per key, however it works.
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
