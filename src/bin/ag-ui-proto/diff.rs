//! The first difference of two JSON values.

use ag_ui_proto::value::Value;

/// Where two values part: a JSON Pointer, and what stands there in either, if anything.
pub(crate) struct Difference<'a> {
    pub(crate) pointer: String,
    pub(crate) before: Option<&'a Value>,
    pub(crate) after: Option<&'a Value>,
}

/// The first place where the values are not the same. The order of members does not count. It
/// recurses as deep as the values, which are events and no deeper than the limits let them be.
pub(crate) fn first_difference<'a>(before: &'a Value, after: &'a Value) -> Option<Difference<'a>> {
    let mut at = Vec::new();
    walk(Some(before), Some(after), &mut at)
}

fn walk<'a>(
    before: Option<&'a Value>,
    after: Option<&'a Value>,
    at: &mut Vec<String>,
) -> Option<Difference<'a>> {
    if before == after {
        return None;
    }
    match (before, after) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let added = other.keys().filter(|key| !one.contains_key(key));
            one.keys().chain(added).find_map(|key| {
                inside(key.replace('~', "~0").replace('/', "~1"), one.get(key), other.get(key), at)
            })
        }
        (Some(Value::List(one)), Some(Value::List(other))) => (0..one.len().max(other.len()))
            .find_map(|index| inside(index.to_string(), one.get(index), other.get(index), at)),
        _ => {
            let pointer = at.iter().flat_map(|step| ["/", step]).collect();
            Some(Difference { pointer, before, after })
        }
    }
}

fn inside<'a>(
    step: String,
    before: Option<&'a Value>,
    after: Option<&'a Value>,
    at: &mut Vec<String>,
) -> Option<Difference<'a>> {
    at.push(step);
    let found = walk(before, after, at);
    at.pop();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str, want: Option<(&str, Option<&str>, Option<&str>)>) {
        let [before, after] = [before, after].map(|text| Value::from_json(text, 8).unwrap());
        let found = first_difference(&before, &after).map(|found| {
            let text = |value: Option<&Value>| value.map(Value::to_string);
            (found.pointer, text(found.before), text(found.after))
        });
        let want = want.map(|(pointer, before, after)| {
            (pointer.to_owned(), before.map(str::to_owned), after.map(str::to_owned))
        });
        assert_eq!(found, want);
    }

    #[test]
    fn the_order_of_members_does_not_count() {
        check(r#"{"a":1,"b":[2]}"#, r#"{"b":[2],"a":1}"#, None);
    }

    #[test]
    fn a_difference_has_a_place() {
        check(r#"{"a/b":[1,2]}"#, r#"{"a/b":[1,3]}"#, Some(("/a~1b/1", Some("2"), Some("3"))));
        check(r#"{"a":[]}"#, "{}", Some(("/a", Some("[]"), None)));
        check("{}", r#"{"a":[]}"#, Some(("/a", None, Some("[]"))));
        check("1", "1.0", Some(("", Some("1"), Some("1.0"))));
    }
}
