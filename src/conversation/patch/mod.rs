//! JSON Patch on the values of this crate.
//!
//! The order of members and every digit of every number stay as they were, and what a patch costs
//! goes with what it touches, but for copies, which are weighed. That is why it is not left to a crate
//! that patches `serde_json::Value`; and `json-patch` 5.0.0 panics as it undoes a move onto the whole
//! value, and leaves a move half done whose target does not exist.
//!
//! Rule: RFC 6902 and 6901; specification 1.1, events/state.

mod undo;

use self::undo::Changes;
use crate::model::{PatchOp, PatchOperation};
use crate::value::{Number, Value};

/// The unescaped tokens of a JSON Pointer.
type Path = Vec<String>;

/// How deep a patched value may nest, its own container included.
pub const DEFAULT_MAX_PATCHED_DEPTH: usize = crate::model::DEFAULT_MAX_DEPTH;

/// How large a value may become by copying within itself; see [`PatchReason::TooLarge`].
pub(super) const MAX_COPIED_LEN: usize = 64 << 20;

/// How large copying may make a value, as [`weight`] counts it, and what it is called where it is too
/// large.
#[derive(Clone, Debug)]
pub(super) struct CopyLimit {
    pub(super) max: usize,
    pub(super) reason: PatchReason,
}

impl Default for CopyLimit {
    fn default() -> Self {
        let max = MAX_COPIED_LEN;
        Self { max, reason: PatchReason::TooLarge { max } }
    }
}

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
    /// The value would grow too large by copying within itself; what the patch has taken out since
    /// its first copy counts, too.
    #[error("copies beyond {max} bytes")]
    TooLarge {
        /// The limit, in bytes of text and 32 for each value.
        max: usize,
    },
    /// The activities of the conversation whose patches copy would grow too large together; counted
    /// as for one.
    #[error("copies beyond {max} bytes in all activities")]
    TooLargeTogether {
        /// The limit.
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
    apply_patch_within(value, patch, &CopyLimit::default())
}

/// The same with another limit on what copying may make of the value.
pub(super) fn apply_patch_within(
    value: &mut Value,
    patch: &[PatchOperation],
    limit: &CopyLimit,
) -> Result<(), PatchError> {
    let mut changes = Changes::default();
    for (index, operation) in patch.iter().enumerate() {
        if let Err(reason) = apply(value, operation, limit, &mut changes) {
            changes.undo(value);
            return Err(PatchError { index, path: operation.path.clone(), reason });
        }
    }
    Ok(())
}

fn apply(
    root: &mut Value,
    operation: &PatchOperation,
    limit: &CopyLimit,
    changes: &mut Changes,
) -> Result<(), PatchReason> {
    let path = tokens(&operation.path)?;
    let value = || operation.value.as_ref().ok_or(PatchReason::Malformed);
    let from = || operation.from.as_deref().ok_or(PatchReason::Malformed);
    match &operation.op {
        PatchOp::Add => add(root, path, value()?.clone(), changes),
        PatchOp::Remove => {
            let (at, old) = remove(root, &path)?;
            changes.removed(path, at, old);
            Ok(())
        }
        PatchOp::Replace => {
            let value = value()?;
            fits(value, path.len())?;
            let place = find_mut(root, &path).ok_or(PatchReason::NoPlace)?;
            let old = std::mem::replace(place, value.clone());
            changes.replaced(path, old);
            Ok(())
        }
        PatchOp::Test => {
            let found = find(root, &path).ok_or(PatchReason::NoPlace)?;
            if is_equal(found, value()?) { Ok(()) } else { Err(PatchReason::TestFailed) }
        }
        PatchOp::Copy => {
            let from = from()?;
            let source_path = tokens(from)?;
            let source = find(root, &source_path).ok_or_else(|| no_source(from))?;
            let sum = weight(source).saturating_add(changes.kept()).saturating_add(weight(root));
            if sum > limit.max {
                return Err(limit.reason.clone());
            }
            let source = find(root, &source_path).cloned().ok_or_else(|| no_source(from))?;
            changes.copied();
            add(root, path, source, changes)
        }
        PatchOp::Move => move_to(root, from()?, path, changes),
        PatchOp::Unknown(_) => Err(PatchReason::Malformed),
    }
}

fn no_source(from: &str) -> PatchReason {
    PatchReason::NoSource(from.to_owned())
}

fn move_to(
    root: &mut Value,
    from: &str,
    mut path: Path,
    changes: &mut Changes,
) -> Result<(), PatchReason> {
    let source_path = tokens(from)?;
    let source = find(root, &source_path).ok_or_else(|| no_source(from))?;
    if source_path == path {
        return Ok(());
    }
    if path.starts_with(&source_path) {
        return Err(PatchReason::IntoItself);
    }
    fits(source, path.len())?;
    // The target is looked for once the source is gone, and the source may be what it stands on.
    let (at, value) = remove(root, &source_path)?;
    match put(root, &mut path, value) {
        Ok(old) => {
            changes.moved_away(source_path, at);
            changes.put(path, old);
            Ok(())
        }
        Err(value) => {
            changes.removed(source_path, at, value);
            Err(PatchReason::NoPlace)
        }
    }
}

fn add(
    root: &mut Value,
    mut path: Path,
    value: Value,
    changes: &mut Changes,
) -> Result<(), PatchReason> {
    fits(&value, path.len())?;
    let old = put(root, &mut path, value).map_err(|_| PatchReason::NoPlace)?;
    changes.put(path, old);
    Ok(())
}

/// Puts a value into its place, and gives what stood there, if it was not put in between; the path
/// then names an index where it said `-`.
///
/// # Errors
///
/// The value, if there is no such place.
fn put(root: &mut Value, path: &mut Path, value: Value) -> Result<Option<Value>, Value> {
    let Some((token, parents)) = path.split_last_mut() else {
        return Ok(Some(std::mem::replace(root, value)));
    };
    match find_mut(root, parents) {
        Some(Value::Object(object)) => Ok(object.insert(token.as_str(), value)),
        Some(Value::List(list)) => {
            if token == "-" {
                *token = list.len().to_string();
            }
            match position(token) {
                Some(index) if index <= list.len() => list.insert(index, value),
                _ => return Err(value),
            }
            Ok(None)
        }
        _ => Err(value),
    }
}

/// Takes a value out, and says how many members or elements stand before it.
fn remove(root: &mut Value, path: &[String]) -> Result<(usize, Value), PatchReason> {
    let Some((token, parents)) = path.split_last() else { return Ok((0, root.take())) };
    let removed = match find_mut(root, parents).ok_or(PatchReason::NoPlace)? {
        Value::Object(object) => object.take_entry(token),
        Value::List(list) => {
            let at = position(token).filter(|at| *at < list.len());
            at.map(|at| (at, list.remove(at)))
        }
        _ => None,
    };
    removed.ok_or(PatchReason::NoPlace)
}

/// Whether a patch copies, so that it can bring more than it is.
pub(super) fn copies(patch: &[PatchOperation]) -> bool {
    patch.iter().any(|operation| operation.op == PatchOp::Copy)
}

fn tokens(pointer: &str) -> Result<Path, PatchReason> {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return Err(PatchReason::Malformed);
    }
    let tokens = pointer.split('/').skip(1);
    Ok(tokens.map(|token| token.replace("~1", "/").replace("~0", "~")).collect())
}

/// What stands at a place. It takes the root to change, since that is how a wide object comes to an
/// index of its keys.
fn find<'v>(root: &'v mut Value, path: &[String]) -> Option<&'v Value> {
    find_mut(root, path).map(|value| &*value)
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
pub(super) fn weight(value: &Value) -> usize {
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
            (Value::Object(left), Value::Object(right)) => match left.pairs(right) {
                Some(members) => {
                    pairs.extend(members);
                    true
                }
                None => false,
            },
            (left, right) => left == right,
        };
        if !is_same {
            return false;
        }
    }
    true
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
