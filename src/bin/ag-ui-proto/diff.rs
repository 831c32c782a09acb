//! The differences between two JSON values.

use ag_ui_proto::value::Value;

/// Where two values part: a JSON Pointer, and what stands there in either, if anything.
pub(crate) struct Difference<'a> {
    pub(crate) pointer: String,
    pub(crate) before: Option<&'a Value>,
    pub(crate) after: Option<&'a Value>,
}

impl Difference<'_> {
    /// Whether both say the same in another form: an empty list for an absent one, or a number
    /// that was written differently.
    ///
    /// Rule: specification 1.1, basic/transports/http-protobuf: the wire has one form for an empty
    /// list and an absent one, and doubles for all numbers.
    pub(crate) fn is_in_form_only(&self) -> bool {
        match (self.before, self.after) {
            (None, Some(list)) | (Some(list), None) => {
                list.as_list().is_some_and(|list| list.is_empty())
            }
            (Some(Value::Number(before)), Some(Value::Number(after))) => {
                before.to_i64().is_some_and(|integer| after.to_i64() == Some(integer))
            }
            _ => false,
        }
    }
}

/// Shows every place where the values are not the same. The order of members does not count.
///
/// It recurses as deep as the values, which are events and no deeper than the limits let them be.
pub(crate) fn differences<'a>(
    before: &'a Value,
    after: &'a Value,
    show: &mut dyn FnMut(Difference<'a>),
) {
    walk(Some(before), Some(after), &mut Vec::new(), show);
}

fn walk<'a>(
    before: Option<&'a Value>,
    after: Option<&'a Value>,
    at: &mut Vec<String>,
    show: &mut dyn FnMut(Difference<'a>),
) {
    if before == after {
        return;
    }
    let mut inside = |step, before, after| {
        at.push(step);
        walk(before, after, at, show);
        at.pop();
    };
    match (before, after) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let added = other.keys().filter(|key| !one.contains_key(key));
            for key in one.keys().chain(added) {
                let step = key.replace('~', "~0").replace('/', "~1");
                inside(step, one.get(key), other.get(key));
            }
        }
        (Some(Value::List(one)), Some(Value::List(other))) => {
            for index in 0..one.len().max(other.len()) {
                inside(index.to_string(), one.get(index), other.get(index));
            }
        }
        _ => {
            let pointer = at.iter().flat_map(|step| ["/", step]).collect();
            show(Difference { pointer, before, after });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks places, and for each whether the difference is in form only.
    #[track_caller]
    fn check(before: &str, after: &str, want: &[(&str, bool)]) {
        let [before, after] = [before, after].map(|text| Value::from_json(text, 8).unwrap());
        let mut found = Vec::new();
        differences(&before, &after, &mut |difference| {
            found.push((difference.pointer.clone(), difference.is_in_form_only()));
        });
        let want: Vec<_> = want.iter().map(|(place, form)| ((*place).to_owned(), *form)).collect();
        assert_eq!(found, want);
    }

    #[test]
    fn the_order_of_members_does_not_count() {
        check(r#"{"a":1,"b":[2]}"#, r#"{"b":[2],"a":1}"#, &[]);
    }

    #[test]
    fn every_difference_has_a_place() {
        check(
            r#"{"a/b":[1,2],"c":3}"#,
            r#"{"a/b":[1,3],"d":3}"#,
            &[("/a~1b/1", false), ("/c", false), ("/d", false)],
        );
    }

    #[test]
    fn empty_lists_and_other_writings_of_a_number_say_the_same() {
        check(r#"{"a":[]}"#, "{}", &[("/a", true)]);
        check("{}", r#"{"a":[]}"#, &[("/a", true)]);
        check("1.0", "1", &[("", true)]);
        check("9007199254740993", "9007199254740992", &[("", false)]);
        check(r#"{"a":null}"#, "{}", &[("/a", false)]);
    }
}
