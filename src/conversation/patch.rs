//! JSON Patch on the values of this crate.
//!
//! The order of members and every digit of every number stay as they were, and what a patch costs
//! goes with what it touches, where there is one operation. That is why it is not left to a crate
//! that patches `serde_json::Value`; and `json-patch` 5.0.0 panics as it undoes a move onto the whole
//! value, and leaves a move half done whose target does not exist.
//!
//! Rule: RFC 6902 and 6901; specification 1.1, events/state.

use crate::model::{PatchOp, PatchOperation};
use crate::value::{List, Number, Object, Value};

/// How deep a patched value may nest, its own container included.
pub const DEFAULT_MAX_PATCHED_DEPTH: usize = crate::model::DEFAULT_MAX_DEPTH;

/// How large a value may become by copying within itself; see [`PatchReason::TooLarge`].
const MAX_COPIED_LEN: usize = 64 << 20;

/// Why a patch was not applied. The value is then as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("operation {index} at {path:?}: {reason}")]
pub struct PatchError {
    /// Which operation, counted from 0.
    pub index: usize,
    /// Its path.
    pub path: String,
    /// What is wrong with it.
    pub reason: PatchReason,
}

/// Why an operation cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchReason {
    /// The place, or the one that it is to be put into, does not exist.
    #[error("no such place")]
    NoPlace,
    /// The source of a move or copy does not exist.
    #[error("no such source {0:?}")]
    NoSource(String),
    /// A test found another value.
    #[error("the test failed")]
    TestFailed,
    /// A value would be moved into itself.
    #[error("a value cannot be moved into itself")]
    IntoItself,
    /// The operation lacks `from` or `value`, its pointer is none, or this version does not know it.
    #[error("malformed operation")]
    Malformed,
    /// The value would nest too deep.
    #[error("deeper than {max} levels")]
    TooDeep {
        /// The limit.
        max: usize,
    },
    /// The value would grow too large by copying within itself.
    #[error("copies beyond {max} bytes")]
    TooLarge {
        /// The limit, in bytes of text and 32 for each value.
        max: usize,
    },
    /// An activity's content would be no object.
    #[error("the content would be no object")]
    NotAnObject,
}

/// Applies the operations in order, all or none.
///
/// Numbers are compared by value: a test of 1 finds 1.0. Removing the whole value leaves null, as in
/// the reference client.
///
/// # Errors
///
/// The first operation that cannot be applied. `value` is then as it was.
pub fn apply_patch(value: &mut Value, patch: &[PatchOperation]) -> Result<(), PatchError> {
    match patch {
        [] => Ok(()),
        // One operation looks before it changes anything.
        [operation] => apply(value, operation).map_err(|reason| error(0, operation, reason)),
        operations => {
            let mut patched = value.clone();
            for (index, operation) in operations.iter().enumerate() {
                apply(&mut patched, operation).map_err(|reason| error(index, operation, reason))?;
            }
            *value = patched;
            Ok(())
        }
    }
}

fn error(index: usize, operation: &PatchOperation, reason: PatchReason) -> PatchError {
    PatchError { index, path: operation.path.clone(), reason }
}

fn apply(root: &mut Value, operation: &PatchOperation) -> Result<(), PatchReason> {
    let path = tokens(&operation.path)?;
    let value = || operation.value.as_ref().ok_or(PatchReason::Malformed);
    let from = || operation.from.as_deref().ok_or(PatchReason::Malformed);
    match &operation.op {
        PatchOp::Add => add(root, &path, value()?.clone()),
        PatchOp::Remove => remove(root, &path).map(drop),
        PatchOp::Replace => {
            let value = value()?;
            fits(value, path.len())?;
            *find_mut(root, &path).ok_or(PatchReason::NoPlace)? = value.clone();
            Ok(())
        }
        PatchOp::Test => {
            let found = find(root, &path).ok_or(PatchReason::NoPlace)?;
            if is_equal(found, value()?) { Ok(()) } else { Err(PatchReason::TestFailed) }
        }
        PatchOp::Copy => {
            let from = from()?;
            let source = find(root, &tokens(from)?).ok_or_else(|| no_source(from))?;
            let max = MAX_COPIED_LEN;
            if weight(source).saturating_add(weight(root)) > max {
                return Err(PatchReason::TooLarge { max });
            }
            let source = source.clone();
            add(root, &path, source)
        }
        PatchOp::Move => move_to(root, from()?, &path),
        PatchOp::Unknown(_) => Err(PatchReason::Malformed),
    }
}

fn no_source(from: &str) -> PatchReason {
    PatchReason::NoSource(from.to_owned())
}

fn move_to(root: &mut Value, from: &str, path: &[String]) -> Result<(), PatchReason> {
    let source_path = tokens(from)?;
    let source = find(root, &source_path).ok_or_else(|| no_source(from))?;
    if source_path == path {
        return Ok(());
    }
    if path.starts_with(&source_path) {
        return Err(PatchReason::IntoItself);
    }
    // The target is looked for once the source is gone, and the source may be what it stands on;
    // only a copy can tell beforehand.
    fits(source, path.len())?;
    let mut trial = root.clone();
    let value = remove(&mut trial, &source_path)?;
    add(&mut trial, path, value)?;
    *root = trial;
    Ok(())
}

fn add(root: &mut Value, path: &[String], value: Value) -> Result<(), PatchReason> {
    fits(&value, path.len())?;
    let Some((token, parents)) = path.split_last() else {
        *root = value;
        return Ok(());
    };
    match find_mut(root, parents).ok_or(PatchReason::NoPlace)? {
        Value::Object(object) => {
            object.insert(token.as_str(), value);
            Ok(())
        }
        Value::List(list) => {
            let index = if token == "-" { Some(list.len()) } else { position(token) };
            let index = index.filter(|index| *index <= list.len()).ok_or(PatchReason::NoPlace)?;
            let mut values = std::mem::take(list).into_vec();
            values.insert(index, value);
            *list = List::from(values);
            Ok(())
        }
        _ => Err(PatchReason::NoPlace),
    }
}

fn remove(root: &mut Value, path: &[String]) -> Result<Value, PatchReason> {
    let Some((token, parents)) = path.split_last() else { return Ok(root.take()) };
    match find_mut(root, parents).ok_or(PatchReason::NoPlace)? {
        Value::Object(object) => object.remove(token).ok_or(PatchReason::NoPlace),
        Value::List(list) => {
            let index = position(token).filter(|index| *index < list.len());
            let index = index.ok_or(PatchReason::NoPlace)?;
            let mut values = std::mem::take(list).into_vec();
            let removed = values.remove(index);
            *list = List::from(values);
            Ok(removed)
        }
        _ => Err(PatchReason::NoPlace),
    }
}

/// The unescaped tokens of a JSON Pointer.
fn tokens(pointer: &str) -> Result<Vec<String>, PatchReason> {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return Err(PatchReason::Malformed);
    }
    let tokens = pointer.split('/').skip(1);
    Ok(tokens.map(|token| token.replace("~1", "/").replace("~0", "~")).collect())
}

fn find<'v>(root: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(root, |value, token| match value {
        Value::List(list) => list.get(position(token)?),
        Value::Object(object) => object.get(token),
        _ => None,
    })
}

fn find_mut<'v>(root: &'v mut Value, path: &[String]) -> Option<&'v mut Value> {
    path.iter().try_fold(root, |value, token| match value {
        Value::List(list) => list.get_mut(position(token)?),
        Value::Object(object) => object.get_mut(token),
        _ => None,
    })
}

fn position(token: &str) -> Option<usize> {
    let is_plain = token.bytes().all(|byte| byte.is_ascii_digit());
    let is_minimal = token == "0" || !token.starts_with('0');
    if is_plain && is_minimal { token.parse().ok() } else { None }
}

/// Whether a value may stand so many levels down.
fn fits(value: &Value, level: usize) -> Result<(), PatchReason> {
    let max = DEFAULT_MAX_PATCHED_DEPTH;
    match max.checked_sub(level) {
        Some(room) if !value.is_deeper_than(room) => Ok(()),
        _ => Err(PatchReason::TooDeep { max }),
    }
}

/// Bytes of text, and 32 for each value; stops counting where it is more than enough.
fn weight(value: &Value) -> usize {
    let mut sum = 0_usize;
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        sum = sum.saturating_add(32);
        match value {
            Value::String(text) => sum = sum.saturating_add(text.len()),
            Value::List(list) => left.extend(list.iter()),
            Value::Object(object) => {
                for (key, value) in object {
                    sum = sum.saturating_add(key.len());
                    left.push(value);
                }
            }
            _ => {}
        }
        if sum > MAX_COPIED_LEN {
            break;
        }
    }
    sum
}

/// Compares deeply: numbers by value, members whatever their order.
fn is_equal(left: &Value, right: &Value) -> bool {
    let mut pairs = vec![(left, right)];
    while let Some(pair) = pairs.pop() {
        let is_same = match pair {
            (Value::Number(left), Value::Number(right)) => is_same_number(left, right),
            (Value::List(left), Value::List(right)) => {
                pairs.extend(left.iter().zip(right.iter()));
                left.len() == right.len()
            }
            (Value::Object(left), Value::Object(right)) => {
                left.len() == right.len() && pair_members(left, right, &mut pairs)
            }
            (left, right) => left == right,
        };
        if !is_same {
            return false;
        }
    }
    true
}

fn pair_members<'v>(
    left: &'v Object,
    right: &'v Object,
    pairs: &mut Vec<(&'v Value, &'v Value)>,
) -> bool {
    left.iter().all(|(key, value)| {
        right.get(key).is_some_and(|other| {
            pairs.push((value, other));
            true
        })
    })
}

fn is_same_number(left: &Number, right: &Number) -> bool {
    if left == right {
        return true;
    }
    // What is kept as text is what neither an integer nor a double names.
    if left.exact().is_some() || right.exact().is_some() {
        return false;
    }
    match (left.to_i64(), right.to_i64()) {
        (Some(left), Some(right)) => left == right,
        _ => left.as_f64().is_some_and(|left| Some(left) == right.as_f64()),
    }
}
