//! JSON Patch on our values, and a second opinion.

use ag_ui_proto::conversation::{PatchReason, apply_patch};
use ag_ui_proto::model::PatchOperation;
use ag_ui_proto::value::{ExactJson, Value};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

fn patched(state: &str, patch: serde_json::Value) -> Result<String, String> {
    let mut value = ExactJson::read(state, 128).unwrap().value;
    let patch: Vec<PatchOperation> = serde_json::from_value(patch).unwrap();
    let before = value.clone();
    match apply_patch(&mut value, &patch) {
        Ok(()) => Ok(value.to_string()),
        Err(error) => {
            assert_eq!(value.to_string(), before.to_string());
            Err(error.to_string())
        }
    }
}

fn check(state: &str, patch: serde_json::Value, result: &str) {
    assert_eq!(patched(state, patch), Ok(result.to_owned()));
}

fn check_fails(state: &str, patch: serde_json::Value, text: &str) {
    assert_eq!(patched(state, patch), Err(text.to_owned()));
}

#[test]
fn order_and_digits_stay() {
    check(
        r#"{"z":12345678901234567890123,"a":1.50e3,"m":1.0}"#,
        json!([{"op": "add", "path": "/b", "value": 2}]),
        r#"{"z":12345678901234567890123,"a":1500.0,"m":1.0,"b":2}"#,
    );
}

#[test]
fn a_test_compares_numbers_by_value_and_members_in_any_order() {
    let test = |value: serde_json::Value| json!([{"op": "test", "path": "/a", "value": value}]);
    check(r#"{"a":1}"#, test(json!(1.0)), r#"{"a":1}"#);
    check(
        r#"{"a":[1.0,{"x":2,"y":-0.0}]}"#,
        test(json!([1, {"y": 0, "x": 2.0}])),
        r#"{"a":[1.0,{"x":2,"y":-0.0}]}"#,
    );
    let failed = r#"operation 0 at "/a": the test failed"#;
    check_fails(r#"{"a":1}"#, test(json!("1")), failed);
    check_fails(r#"{"a":9007199254740993}"#, test(json!(9_007_199_254_740_992_i64)), failed);
    check_fails(r#"{"a":{"x":1}}"#, test(json!({"x": 1, "y": 1})), failed);
    check_fails(
        r#"{"a":null}"#,
        json!([{"op": "test", "path": "/b", "value": null}]),
        r#"operation 0 at "/b": no such place"#,
    );
}

#[test]
fn places_follow_the_rfc() {
    let add = |path: &str| json!([{"op": "add", "path": path, "value": 9}]);
    check(r#"{"a":[1,2]}"#, add("/a/-"), r#"{"a":[1,2,9]}"#);
    check(r#"{"a":[1,2]}"#, add("/a/2"), r#"{"a":[1,2,9]}"#);
    check(r#"{"a":[1,2]}"#, add("/a/0"), r#"{"a":[9,1,2]}"#);
    check(r#"{"a":1}"#, add("/a"), r#"{"a":9}"#);
    check(r#"{"a":1}"#, add(""), "9");
    check(r#"{"a/b":1,"~":2}"#, add("/a~1b"), r#"{"a/b":9,"~":2}"#);
    check(r#"{"~1":1}"#, add("/~01"), r#"{"~1":9}"#);
    check("{}", add("/__proto__"), r#"{"__proto__":9}"#);
    check("{}", add("/"), r#"{"":9}"#);
    for path in ["/a/3", "/a/01", "/a/x", "/b/c", "/a/0/x"] {
        check_fails(
            r#"{"a":[1,2]}"#,
            add(path),
            &format!("operation 0 at {path:?}: no such place"),
        );
    }
    check_fails("5", add("/x"), r#"operation 0 at "/x": no such place"#);
    check_fails(
        "{}",
        json!([{"op": "replace", "path": "/toString", "value": 1}]),
        r#"operation 0 at "/toString": no such place"#,
    );
    check(r#"{"a":1}"#, json!([{"op": "remove", "path": ""}]), "null");
    check_fails(
        r#"{"a":[1]}"#,
        json!([{"op": "remove", "path": "/a/-"}]),
        r#"operation 0 at "/a/-": no such place"#,
    );
}

#[test]
fn moves_and_copies() {
    let mv = |from: &str, path: &str| json!([{"op": "move", "from": from, "path": path}]);
    check(r#"{"a":{"b":1}}"#, mv("/a/b", "/c"), r#"{"a":{},"c":1}"#);
    check(r#"{"a":[1,2,3]}"#, mv("/a/0", "/a/2"), r#"{"a":[2,3,1]}"#);
    check(r#"{"a":{"b":1}}"#, mv("/a", "/a"), r#"{"a":{"b":1}}"#);
    check_fails(
        r#"{"a":{"b":1}}"#,
        mv("/a", "/a/b"),
        r#"operation 0 at "/a/b": a value cannot be moved into itself"#,
    );
    check_fails(r#"{"a":[1]}"#, mv("/a/0", "/a/1"), r#"operation 0 at "/a/1": no such place"#);
    check_fails("{}", mv("/x", "/y"), r#"operation 0 at "/y": no such source "/x""#);
    check(
        r#"{"a":[1]}"#,
        json!([{"op": "copy", "from": "/a", "path": "/a/0"}]),
        r#"{"a":[[1],1]}"#,
    );
}

#[test]
fn all_operations_or_none() {
    check_fails(
        r#"{"a":1}"#,
        json!([{"op": "add", "path": "/b", "value": 2}, {"op": "remove", "path": "/zzz"}]),
        r#"operation 1 at "/zzz": no such place"#,
    );
    check("{}", json!([]), "{}");
}

#[test]
fn a_value_does_not_grow_without_bounds() {
    // Each copy doubles the value: 60 of them would be beyond any memory.
    let double = json!({"op": "copy", "from": "/l", "path": "/l/-"});
    let text = "x".repeat(1 << 16);
    let mut value = Value::from(json!({"l": [text]}));
    let patch: Vec<PatchOperation> = serde_json::from_value(json!(vec![double; 60])).unwrap();
    let before = value.clone();
    let error = apply_patch(&mut value, &patch).unwrap_err();
    assert_eq!(error.index, 9);
    assert_eq!(error.reason.to_string(), "copies beyond 67108864 bytes");
    assert_eq!(value, before);

    // Each copy of the whole nests it deeper.
    let mut value = Value::from(json!({}));
    let patch: Vec<PatchOperation> =
        serde_json::from_value(json!([{"op": "copy", "from": "", "path": "/x"}])).unwrap();
    let errors: Vec<_> = (0..200).map(|_| apply_patch(&mut value, &patch)).collect();
    assert_eq!(errors.iter().filter(|result| result.is_ok()).count(), 127);
    assert_eq!(errors[199].as_ref().unwrap_err().reason, PatchReason::TooDeep { max: 128 });
    assert_eq!(value.depth(), 128);
}

#[test]
fn what_a_patch_has_copied_and_taken_out_again_counts_against_its_limit() {
    let mut value = Value::from(json!({"a": "x".repeat(10 << 20)}));
    let round =
        [json!({"op": "copy", "from": "/a", "path": "/b"}), json!({"op": "remove", "path": "/b"})];
    let patch: Vec<PatchOperation> =
        serde_json::from_value(json!(vec![round; 9].concat())).unwrap();
    let error = apply_patch(&mut value, &patch).unwrap_err();
    assert_eq!((error.index, error.reason), (10, PatchReason::TooLarge { max: 64 << 20 }));
    assert_eq!(value.as_object().unwrap().len(), 1);
}

#[test]
fn members_taken_out_come_back_where_they_were() {
    let take = |path: &str| json!({"op": "remove", "path": path});
    for patch in [
        json!([take("/b"), take("/a"), take("/d"), take("/l/1"), take("/l/0"), take("/none")]),
        json!([take("/b"), take("/l/2"), take("/a"), take("/l/0"), take("/none")]),
        json!([{"op": "move", "from": "/a", "path": ""}, take("/none")]),
        json!([{"op": "move", "from": "/a", "path": "/l/-"}, take("/none")]),
        json!([{"op": "move", "from": "/a", "path": "/l/1"}, take("/b"), take("/l/1"), take("/none")]),
        json!([{"op": "move", "from": "/b", "path": "/a"}, take("/none")]),
        json!([{"op": "move", "from": "/l/0", "path": "/l/2"}, take("/l/0"), take("/none")]),
        json!([take("/b"), {"op": "move", "from": "/a", "path": "/l/9"}]),
        json!([take("/b"), take(""), {"op": "add", "path": "", "value": {}}, take("/none")]),
    ] {
        patched(r#"{"a":1,"b":{"x":2},"c":3,"l":[1,2,3],"d":4}"#, patch).unwrap_err();
    }
}

#[test]
fn what_no_enforcement_has_seen_is_refused_not_guessed() {
    check_fails(
        "{}",
        json!([{"op": "increment", "path": "/n"}]),
        r#"operation 0 at "/n": malformed operation"#,
    );
    let mut value = Value::Null;
    let patch = [PatchOperation::new(ag_ui_proto::model::PatchOp::Add, "x")];
    let error = apply_patch(&mut value, &patch).unwrap_err();
    assert_eq!(error.reason, PatchReason::Malformed);
}

fn path() -> impl Strategy<Value = &'static str> {
    prop::sample::select(
        &[
            "", "/a", "/a/b", "/a/0", "/a/1", "/a/-", "/l", "/l/0", "/l/0/a", "/l/1", "/l/2",
            "/l/-", "/l/01", "/~0", "/~1", "/",
        ][..],
    )
}

fn operation() -> impl Strategy<Value = serde_json::Value> {
    let op = prop::sample::select(&["add", "remove", "replace", "move", "copy", "test"][..]);
    let value = prop::sample::select(&[0, 1, 2, 3][..]).prop_map(|choice| match choice {
        0 => json!({"b": 1}),
        1 => json!([1, {"a": 2}]),
        2 => json!(1),
        _ => serde_json::Value::Null,
    });
    (op, path(), path(), value).prop_map(|(op, path, from, value)| match op {
        "remove" => json!({"op": op, "path": path}),
        "move" | "copy" => json!({"op": op, "path": path, "from": from}),
        _ => json!({"op": op, "path": path, "value": value}),
    })
}

proptest! {
    #![proptest_config(crate::laws::cases(3000))]

    #[test]
    fn a_patch_that_fails_leaves_no_trace(patch in vec(operation(), 1..6)) {
        let mut patch = patch;
        patch.push(json!({"op": "remove", "path": "/none"}));
        let state = r#"{"z":0,"a":{"b":1,"y":{}},"l":[{"a":2},1,"x"],"~":0,"/":1,"":2}"#;
        patched(state, json!(patch)).unwrap_err();
    }

    /// `json-patch` says the same, but for what it reads otherwise than the protocol does: the whole
    /// value removed or moved away, and a value moved onto itself or into itself.
    #[test]
    fn another_implementation_agrees(patch in vec(operation(), 1..4)) {
        let state = json!({"a": {"b": 1}, "l": [{"a": 2}, 1], "~": 0, "/": 1, "": 2});
        let is_theirs = |operation: &serde_json::Value| {
            let text = |name: &str| operation[name].as_str().unwrap_or_default().to_owned();
            match text("op").as_str() {
                "remove" => text("path").is_empty(),
                "move" => text("path").starts_with(&text("from")),
                _ => false,
            }
        };
        prop_assume!(!patch.iter().any(is_theirs));
        let patch = json!(patch);
        let mut theirs = state.clone();
        let their_patch: json_patch::Patch = serde_json::from_value(patch.clone()).unwrap();
        let their_verdict = json_patch::patch_unsafe(&mut theirs, &their_patch).is_ok();
        let mut ours = Value::from(state.clone());
        let our_patch: Vec<PatchOperation> = serde_json::from_value(patch).unwrap();
        let verdict = apply_patch(&mut ours, &our_patch);
        prop_assert_eq!(verdict.is_ok(), their_verdict, "{:?}", verdict);
        // Theirs is asked for the verdict alone where it fails: it panics as it undoes a move onto
        // the whole value, and leaves a failed move half done.
        let expected = if their_verdict { theirs } else { state };
        prop_assert_eq!(serde_json::to_value(&ours).unwrap(), expected);
    }
}

/// What is known of a wide object's keys from one patch to the next stays true, whatever they do.
#[test]
fn many_patches_of_a_wide_object_are_each_as_if_it_were_the_first() {
    let members = (0..100).map(|n| (format!("k{}", n * 37 % 100), Value::from(n)));
    let mut value = Value::Object(members.collect());
    let mut seed = 7_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % below
    };
    let (mut applied, mut failed) = (0, 0);
    for _ in 0..600 {
        let operations = (0..=random(3)).map(|_| {
            let (path, from) = (format!("/k{}", random(130)), format!("/k{}", random(130)));
            match random(6) {
                0 => json!({"op": "remove", "path": path}),
                1 => json!({"op": "move", "from": from, "path": path}),
                2 => json!({"op": "copy", "from": from, "path": path}),
                3 => json!({"op": "replace", "path": path, "value": "new"}),
                _ => json!({"op": "add", "path": path, "value": random(9)}),
            }
        });
        let patch = json!(operations.collect::<Vec<_>>());
        let before = value.to_string();
        let patch_read: Vec<PatchOperation> = serde_json::from_value(patch.clone()).unwrap();
        let result = apply_patch(&mut value, &patch_read).map(|()| value.to_string());
        if result.is_ok() {
            applied += 1;
        } else {
            failed += 1;
            assert_eq!(value.to_string(), before);
        }
        assert_eq!(result.map_err(|error| error.to_string()), patched(&before, patch));
        for (key, held) in value.as_object().unwrap() {
            assert_eq!(value.get(key), Some(held));
        }
    }
    assert!(applied > 80 && failed > 80, "{applied} {failed}");
}
