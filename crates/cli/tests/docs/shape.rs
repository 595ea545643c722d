//! The fields of JSON objects, and on request their values: a page has what the real output has.

use serde_json::Value;

/// Parses the JSON objects of a text, which may stand on several lines.
///
/// # Errors
///
/// Says where the text is not JSON.
pub(crate) fn objects(text: &str) -> Result<Vec<Value>, String> {
    let objects = serde_json::Deserializer::from_str(text).into_iter();
    objects.collect::<Result<_, _>>().map_err(|error| format!("not JSON: {error}"))
}

/// What a page and an output must have in common.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Compared {
    /// The fields and the values, except for numbers of seconds.
    Values,
    /// The fields, and the types of their values. `null` is of every type.
    Fields,
}

/// Returns where the page's value differs from the real value.
///
/// An object of the page with a field `…` may lack fields of the real one. Arrays are compared element by
/// element. If only fields are compared and either array is shorter, its last element repeats.
fn differences(at: &str, page: &Value, real: &Value, compared: Compared) -> Vec<String> {
    match (page, real) {
        (Value::Object(page), Value::Object(real)) => {
            let mut found = Vec::new();
            for (name, value) in page.iter().filter(|(name, _)| *name != "…") {
                match real.get(name) {
                    Some(real) => {
                        found.extend(differences(&format!("{at}.{name}"), value, real, compared));
                    }
                    None => found.push(format!("{at}.{name} is not in the output")),
                }
            }
            if !page.contains_key("…") {
                let missing = real.keys().filter(|name| !page.contains_key(*name));
                found.extend(missing.map(|name| format!("{at}.{name} is not on the page")));
            }
            found
        }
        (Value::Array(page), Value::Array(real))
            if compared == Compared::Values && page.len() != real.len() =>
        {
            vec![format!(
                "{at} has {} elements on the page, {} in the output",
                page.len(),
                real.len()
            )]
        }
        (Value::Array(page), Value::Array(real)) => {
            let elements = page.len().max(real.len());
            let (Some(last_page), Some(last_real)) = (page.last(), real.last()) else {
                return vec![];
            };
            let pair = |index| (page.get(index).unwrap_or(last_page), real.get(index));
            let pairs = (0..elements).map(pair);
            let differs = |(page, real): (_, Option<_>)| {
                differences(&format!("{at}[]"), page, real.unwrap_or(last_real), compared)
            };
            let mut found: Vec<String> = pairs.flat_map(differs).collect();
            found.sort();
            found.dedup();
            found
        }
        (page, real) if page == real => vec![],
        (Value::Number(_), Value::Number(_)) if at.ends_with("seconds") => vec![],
        (Value::Null, _) | (_, Value::Null) if compared == Compared::Fields => vec![],
        (page, real)
            if compared == Compared::Fields
                && std::mem::discriminant(page) == std::mem::discriminant(real) =>
        {
            vec![]
        }
        (page, real) => vec![format!("{at} is {page} on the page and {real} in the output")],
    }
}

/// Compares the objects of a page with the objects of an output that are most like them.
///
/// The page shows some of the objects: each must agree with at least one real object.
pub(crate) fn compare(page: &[Value], real: &[Value], compared: Compared) -> Vec<String> {
    let best = |object: &Value| {
        let all = real.iter().map(|real| differences("", object, real, compared));
        all.min_by_key(Vec::len).unwrap_or_else(|| vec!["the output has no object".into()])
    };
    page.iter().flat_map(best).collect()
}

#[test]
fn a_missing_field_a_further_field_and_another_type_differ() {
    let differs = |page: &str, real: &str| {
        let [page, real] = [page, real].map(|text| objects(text).expect("JSON"));
        compare(&page, &real, Compared::Fields).len()
    };
    assert_eq!(differs(r#"{"a":1,"b":[{"c":"x"}]}"#, r#"{"a":2,"b":[{"c":"y"},{"c":"z"}]}"#), 0);
    assert_eq!(differs(r#"{"a":1}"#, r#"{"a":1,"b":2}"#), 1);
    assert_eq!(differs(r#"{"a":1,"b":2}"#, r#"{"a":1}"#), 1);
    assert_eq!(differs(r#"{"a":1,"…":0}"#, r#"{"a":1,"b":2}"#), 0);
    assert_eq!(differs(r#"{"a":1}"#, r#"{"a":"1"}"#), 1);
    assert_eq!(differs(r#"{"a":null}"#, r#"{"a":"1"}"#), 0);
    assert_eq!(differs(r#"{"b":[{"c":"x"}]}"#, r#"{"b":[{"c":"y"},{"d":"z"}]}"#), 2);
    assert_eq!(differs(r#"{"a":1}"#, "{\"b\":1}\n{\"a\":7}"), 0, "one of the objects");
    assert_eq!(differs(r#"{"a":1}"#, ""), 1);
}

#[test]
fn another_value_differs_if_values_are_compared() {
    let differs = |page: &str, real: &str| {
        let [page, real] = [page, real].map(|text| objects(text).expect("JSON"));
        compare(&page, &real, Compared::Values).len()
    };
    assert_eq!(differs(r#"{"a":1,"b":[2]}"#, r#"{"a":1,"b":[2]}"#), 0);
    assert_eq!(differs(r#"{"a":1}"#, r#"{"a":2}"#), 1);
    assert_eq!(differs(r#"{"a":null}"#, r#"{"a":2}"#), 1);
    assert_eq!(differs(r#"{"b":[2]}"#, r#"{"b":[2,2]}"#), 1);
    assert_eq!(differs(r#"{"seconds":0.1}"#, r#"{"seconds":0.2}"#), 0);
    assert_eq!(differs(r#"{"seconds":0.1}"#, r#"{"seconds":"x"}"#), 1);
}
