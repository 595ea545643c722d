//! Decimal numbers as HBase's `Bytes.toBytes(BigDecimal)` writes them.
//!
//! | bytes | field      | encoding and meaning                                                    |
//! |------:|------------|-------------------------------------------------------------------------|
//! |     4 | `scale`    | i32 BE; the digits after the point, negative for zeros before the point |
//! |       | `unscaled` | two's complement BE, as few bytes as possible: the number without point |
//!
//! A column has numbers of any scale. A [`DecimalType`] says which scale and how many digits a program sees.

/// The precision and scale of a column of decimal numbers, as in SQL's `DECIMAL(precision, scale)`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct DecimalType {
    precision: u8,
    scale: u8,
}

impl DecimalType {
    /// The maximum number of digits: an integer of 128 bits has as many.
    pub const PRECISION_MAX: u8 = 38;
    /// The type of `decimal` without numbers.
    pub const DEFAULT: Self = Self { precision: Self::PRECISION_MAX, scale: 18 };

    /// Returns the type of numbers of `precision` digits, `scale` of them after the point.
    ///
    /// `None` if the precision is 0 or more than [`PRECISION_MAX`](Self::PRECISION_MAX), or the scale exceeds it.
    pub const fn new(precision: u8, scale: u8) -> Option<Self> {
        if precision == 0 || precision > Self::PRECISION_MAX || scale > precision {
            return None;
        }
        Some(Self { precision, scale })
    }

    /// Returns the maximum number of digits.
    pub const fn precision(self) -> u8 {
        self.precision
    }

    /// Returns the number of digits after the point.
    pub const fn scale(self) -> u8 {
        self.scale
    }

    /// Parses `PRECISION,SCALE`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (precision, scale) = text.split_once(',')?;
        Self::new(precision.trim().parse().ok()?, scale.trim().parse().ok()?)
    }

    /// Decodes a number; returns it times ten to the power of the scale.
    ///
    /// `None` if the bytes are no number, or it has more digits than the type, before or after the point.
    pub(crate) fn decode(self, value: &[u8]) -> Option<i128> {
        let (scale, unscaled) = value.split_first_chunk::<4>()?;
        self.rescaled(Decimal { scale: i32::from_be_bytes(*scale), unscaled: integer(unscaled)? })
    }

    /// Encodes the text of a number with its own scale, as Java's `new BigDecimal(text)` has.
    ///
    /// `None` if the text is no number of the type.
    pub(crate) fn encode(self, text: &str) -> Option<Vec<u8>> {
        let number = Decimal::parse(text)?;
        self.rescaled(number)?;
        let bytes = number.unscaled.to_be_bytes();
        // Leading bytes that only repeat the sign are left out.
        let pairs = bytes.windows(2);
        let signs = pairs.take_while(|pair| matches!(pair, [0, 0..=0x7f] | [0xff, 0x80..=0xff]));
        let mut out = number.scale.to_be_bytes().to_vec();
        out.extend_from_slice(bytes.get(signs.count()..)?);
        Some(out)
    }

    fn rescaled(self, number: Decimal) -> Option<i128> {
        let Decimal { scale, unscaled } = number;
        if unscaled == 0 {
            return Some(0);
        }
        let digits = i64::from(self.scale).checked_sub(scale.into())?;
        let power = 10_i128.checked_pow(u32::try_from(digits.unsigned_abs()).ok()?)?;
        let rescaled = if digits >= 0 {
            unscaled.checked_mul(power)?
        } else if unscaled.checked_rem(power)? == 0 {
            unscaled.checked_div(power)?
        } else {
            return None;
        };
        let limit = 10_u128.checked_pow(self.precision.into())?;
        (rescaled.unsigned_abs() < limit).then_some(rescaled)
    }
}

/// A number: `unscaled` divided by ten to the power of `scale`.
#[derive(Clone, Copy)]
struct Decimal {
    scale: i32,
    unscaled: i128,
}

impl Decimal {
    /// Parses a number such as `-12.50` or `1e3`.
    fn parse(text: &str) -> Option<Self> {
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (signed, fraction) = number.split_once('.').unwrap_or((number, ""));
        let (sign, whole) = match signed.strip_prefix('-') {
            Some(whole) => ("-", whole),
            None => ("", signed.strip_prefix('+').unwrap_or(signed)),
        };
        let has_digits = !(whole.is_empty() && fraction.is_empty());
        let is_number = whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
        if !has_digits || !is_number {
            return None;
        }
        let unscaled = format!("{sign}{whole}{fraction}").parse().ok()?;
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        Some(Self { scale, unscaled })
    }
}

/// Returns an integer in two's complement; `None` without bytes, or if it exceeds 128 bits.
fn integer(bytes: &[u8]) -> Option<i128> {
    let first = *bytes.first()?;
    let sign = if first >= 0x80 { 0xff } else { 0 };
    let mut out = [sign; 16];
    let extra = bytes.len().saturating_sub(out.len());
    let (signs, kept) = bytes.split_at_checked(extra)?;
    let is_extended = signs.iter().all(|byte| *byte == sign)
        && kept.first().is_none_or(|byte| extra == 0 || (*byte >= 0x80) == (sign == 0xff));
    let start = out.len().checked_sub(kept.len())?;
    out.get_mut(start..)?.copy_from_slice(kept);
    is_extended.then(|| i128::from_be_bytes(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(precision: u8, scale: u8) -> DecimalType {
        DecimalType::new(precision, scale).expect("a type")
    }

    /// `Bytes.toBytes(new BigDecimal(text))` returned the bytes.
    #[test]
    fn numbers_are_encoded_as_java_encodes_them() {
        for (text, bytes, at_scale_2) in [
            ("0", &b"\0\0\0\0\0"[..], 0),
            ("0.00", b"\0\0\0\x02\0", 0),
            ("1.50", b"\0\0\0\x02\0\x96", 150),
            ("1.5", b"\0\0\0\x01\x0f", 150),
            ("-1.28", b"\0\0\0\x02\x80", -128),
            ("-1.29", b"\0\0\0\x02\xff\x7f", -129),
            ("+1.28", b"\0\0\0\x02\0\x80", 128),
            ("1e3", b"\xff\xff\xff\xfd\x01", 100_000),
            ("2.5E-1", b"\0\0\0\x02\x19", 25),
            (".5", b"\0\0\0\x01\x05", 50),
            (
                "12345678901234567.89",
                b"\0\0\0\x02\x11\x22\x10\xf4\x7d\xe9\x81\x15",
                1_234_567_890_123_456_789,
            ),
        ] {
            assert_eq!(of(38, 2).encode(text).as_deref(), Some(bytes), "{text}");
            assert_eq!(of(38, 2).decode(bytes), Some(at_scale_2), "{text}");
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused_and_not_rounded() {
        for text in [
            "",
            "-",
            ".",
            "1.",
            "x",
            "1e",
            "1.2.3",
            "--1",
            "1,5",
            "99999999999999999999999999999999999999999",
        ] {
            let is_whole = text == "1.";
            assert_eq!(of(38, 2).encode(text).is_some(), is_whole, "{text}");
        }
        assert!(of(38, 2).encode("1.234").is_none() && of(38, 2).encode("1.230").is_some());
        assert!(of(3, 1).encode("100").is_none() && of(3, 1).encode("99.9").is_some());
        let huge = [&i32::MAX.to_be_bytes()[..], b"\x01"].concat();
        assert_eq!(of(38, 2).decode(&huge), None);
        let zero = [&i32::MIN.to_be_bytes()[..], b"\0"].concat();
        assert_eq!(of(38, 2).decode(&zero), Some(0));
        for bytes in [&b""[..], b"\0\0\0\0", b"\0\0\0"] {
            assert_eq!(of(38, 2).decode(bytes), None);
        }
        // More bytes than needed, and more than 128 bits.
        let wide = [&[0; 4][..], &[0xff; 20], &[0x85]].concat();
        assert_eq!(of(38, 0).decode(&wide), Some(-123));
        for other in [[1; 17], [0x80; 17]] {
            assert_eq!(of(38, 0).decode(&[&[0; 4][..], &other].concat()), None);
        }
        let mut ambiguous = [0xff; 17];
        ambiguous[1] = 0x7f;
        assert_eq!(of(38, 0).decode(&[&[0; 4][..], &ambiguous].concat()), None);
        for (precision, scale) in [(0, 0), (39, 1), (5, 6)] {
            assert_eq!(DecimalType::new(precision, scale), None);
        }
    }
}
