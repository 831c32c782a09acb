//! Three macros that write the model: closed objects, tagged unions and sets of strings.
//!
//! A table names each member once, with its type and its JSON name; from it come the struct, its
//! constructor and setters, reading, writing and inspection. The same tables, handed to another
//! macro, become the conversions of [`crate::convert`].

use serde::ser::SerializeMap;

use super::Malformed;
use super::path::At;
use crate::value::{Object, Value};

/// Members of a closed object that this version does not describe, kept as they came.
///
/// Reading keeps them, so that whoever stands between two newer peers loses nothing in JSON;
/// enforcement strips them; the wire has no place for them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extra(Option<Box<Object>>);

impl Extra {
    /// The value of the member `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.as_ref()?.get(name)
    }

    /// Whether there is no such member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.as_ref().is_none_or(|object| object.is_empty())
    }

    /// The members, in the order they came.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.as_deref().into_iter().flat_map(Object::iter)
    }

    /// Adds a member, or replaces it.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.0.get_or_insert_default().insert(name.into(), value.into());
    }

    /// Removes a member.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.0.as_mut()?.remove(name)
    }

    /// Removes all members.
    pub fn clear(&mut self) {
        self.0 = None;
    }

    /// The members of an object as they are.
    pub(crate) fn from_object(object: Object) -> Self {
        if object.is_empty() { Self(None) } else { Self(Some(Box::new(object))) }
    }

    pub(crate) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        self.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))
    }
}

/// A closed object whose members stand in its own JSON object, beside a tag or the event's base.
pub(crate) trait Members: Sized {
    /// Reads the members out of an object; what is left over becomes [`Extra`].
    fn from_object(object: Object, at: &At<'_>) -> Result<Self, Malformed>;

    /// Writes the members that are present.
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

impl<T: Members> Members for Box<T> {
    fn from_object(object: Object, at: &At<'_>) -> Result<Self, Malformed> {
        T::from_object(object, at).map(Box::new)
    }

    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        T::write(self, map)
    }
}

/// Writes closed objects.
///
/// - `required`: in JSON and on the wire always there.
/// - `expected`: required in JSON, but bytes can lack it; `None` is malformed.
/// - `optional`: absent or present, never null.
/// - `check`: a function for the rules that a member's type cannot hold.
macro_rules! objects {
    ($(
        $(#[$meta:meta])*
        $name:ident $(: $wire:ident)? {
            $(required { $( $(#[$rmeta:meta])* $req:ident: $rty:ty = $rjson:literal; )* })?
            $(expected { $( $(#[$emeta:meta])* $exp:ident: $ety:ty = $ejson:literal; )* })?
            $(optional { $( $(#[$ometa:meta])* $opt:ident: $oty:ty = $ojson:literal, $with:ident; )* })?
            $(check $check:path;)?
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $($( $(#[$rmeta])* pub $req: $rty, )*)?
            $($(
                $(#[$emeta])*
                ///
                /// Required. Absent only in an event whose bytes lacked it, which is malformed.
                pub $exp: Option<$ety>,
            )*)?
            $($( $(#[$ometa])* pub $opt: Option<$oty>, )*)?
            /// Members that this version does not describe.
            pub extra: $crate::model::Extra,
        }

        impl $name {
            /// Makes one with its required members.
            #[must_use]
            #[allow(clippy::new_without_default, clippy::too_many_arguments)]
            pub fn new(
                $($( $req: impl Into<$rty>, )*)?
                $($( $exp: impl Into<$ety>, )*)?
            ) -> Self {
                Self {
                    $($( $req: $req.into(), )*)?
                    $($( $exp: Some($exp.into()), )*)?
                    $($( $opt: None, )*)?
                    extra: $crate::model::Extra::default(),
                }
            }

            $($(
                #[doc = concat!("Sets `", stringify!($opt), "`.")]
                #[must_use]
                pub fn $with(mut self, $opt: impl Into<$oty>) -> Self {
                    self.$opt = Some($opt.into());
                    self
                }
            )*)?
        }

        impl $crate::model::object::Members for $name {
            #[allow(unused_variables)]
            fn from_object(
                object: $crate::value::Object,
                at: &$crate::model::path::At<'_>,
            ) -> Result<Self, $crate::model::Malformed> {
                $($( let mut $req: Option<$rty> = None; )*)?
                $($( let mut $exp: Option<$ety> = None; )*)?
                $($( let mut $opt: Option<$oty> = None; )*)?
                let mut extra = $crate::value::Object::new();
                for (name, value) in object {
                    match name.as_str() {
                        $($( $rjson => $req = Some(<$rty as $crate::model::node::Node>::from_json(value, &at.member($rjson))?), )*)?
                        $($( $ejson => $exp = Some(<$ety as $crate::model::node::Node>::from_json(value, &at.member($ejson))?), )*)?
                        $($( $ojson => $opt = Some(<$oty as $crate::model::node::Node>::from_json(value, &at.member($ojson))?), )*)?
                        _ => { extra.insert(name, value); }
                    }
                }
                Ok(Self {
                    $($( $req: $crate::model::node::required($req, $rjson, at)?, )*)?
                    $($( $exp, )*)?
                    $($( $opt, )*)?
                    extra: $crate::model::Extra::from_object(extra),
                })
            }

            #[allow(unused_variables)]
            fn write<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                $($( map.serialize_entry($rjson, &self.$req)?; )*)?
                $($( if let Some(member) = &self.$exp { map.serialize_entry($ejson, member)?; } )*)?
                $($( if let Some(member) = &self.$opt { map.serialize_entry($ojson, member)?; } )*)?
                self.extra.write(map)
            }
        }

        impl $crate::model::node::Node for $name {
            const EXPECTED: &'static str = "an object";

            fn from_json(
                value: $crate::value::Value,
                at: &$crate::model::path::At<'_>,
            ) -> Result<Self, $crate::model::Malformed> {
                match value {
                    $crate::value::Value::Object(object) => {
                        <Self as $crate::model::object::Members>::from_object(object, at)
                    }
                    other => Err($crate::model::node::mistyped::<Self>(&other, at)),
                }
            }

            fn unrecognised(&self) -> Option<$crate::model::Unrecognised> {
                $($( if let Some(what) = self.$req.unrecognised() { return Some(what); } )*)?
                $($( if let Some(what) = self.$exp.as_ref().and_then($crate::model::node::Node::unrecognised) { return Some(what); } )*)?
                None
            }

            #[allow(unused_variables)]
            fn inspect(
                &self,
                at: &$crate::model::path::At<'_>,
                with: &mut impl $crate::model::node::Inspector,
            ) {
                $($( self.$req.inspect(&at.member($rjson), with); )*)?
                $($( $crate::model::node::inspect_expected(self.$exp.as_ref(), &at.member($ejson), with); )*)?
                $($( $crate::model::node::inspect_optional(self.$opt.as_ref(), &at.member($ojson), with); )*)?
                $crate::model::node::inspect_extra(&self.extra, at, with);
                $( $check(self, at, with); )?
            }

            fn strip(&mut self) {
                $($( self.$req.strip(); )*)?
                $($( if let Some(member) = &mut self.$exp { member.strip(); } )*)?
                $($( $crate::model::node::strip_optional(&mut self.$opt); )*)?
                self.extra.clear();
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serde::Serializer::serialize_map(serializer, None)?;
                $crate::model::object::Members::write(self, &mut map)?;
                serde::ser::SerializeMap::end(map)
            }
        }

        $crate::model::object::deserialize!($name);

        impl $crate::model::direct::FromText for $name {
            fn from_text<'de, D: serde::Deserializer<'de>>(
                text: D,
                cx: $crate::model::direct::Cx<'_>,
            ) -> Result<Self, D::Error> {
                $crate::model::direct::read_object(text, cx)
            }
        }

        impl $crate::model::direct::FromMembers for $name {
            fn from_members<'de, A: serde::de::MapAccess<'de>>(
                members: &mut A,
                mut base: Option<&mut $crate::model::Base>,
                cx: $crate::model::direct::Cx<'_>,
            ) -> Result<Self, A::Error> {
                #[allow(non_camel_case_types)]
                enum Own {
                    $($( $req, )*)?
                    $($( $exp, )*)?
                    $($( $opt, )*)?
                }
                $($( let mut $req: Option<$rty> = None; )*)?
                $($( let mut $exp: Option<$ety> = None; )*)?
                $($( let mut $opt: Option<$oty> = None; )*)?
                let own = |name: &str| -> Option<Own> {
                    match name {
                        $($( $rjson => Some(Own::$req), )*)?
                        $($( $ejson => Some(Own::$exp), )*)?
                        $($( $ojson => Some(Own::$opt), )*)?
                        _ => None,
                    }
                };
                while let Some(own) =
                    $crate::model::direct::next_name(members, &mut base, cx, own)?
                {
                    match own {
                        $($( Own::$req => $crate::model::direct::set(&mut $req, members, cx)?, )*)?
                        $($( Own::$exp => $crate::model::direct::set(&mut $exp, members, cx)?, )*)?
                        $($( Own::$opt => $crate::model::direct::set(&mut $opt, members, cx)?, )*)?
                    }
                }
                Ok(Self {
                    $($( $req: $crate::model::direct::required($req)?, )*)?
                    $($( $exp, )*)?
                    $($( $opt, )*)?
                    extra: $crate::model::Extra::default(),
                })
            }
        }
    )*};
}

/// Reads through [`Value`], so that an error names its place whatever the format.
macro_rules! deserialize {
    ($name:ident) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let value =
                    <$crate::value::Value as serde::Deserialize>::deserialize(deserializer)?;
                <$name as $crate::model::node::Node>::from_json(
                    value,
                    &$crate::model::path::At::Root,
                )
                .map_err(serde::de::Error::custom)
            }
        }
    };
}

/// Writes unions of closed objects, told apart by the string under one member.
macro_rules! unions {
    ($(
        $(#[$meta:meta])*
        $name:ident by $tag:literal, $what:literal {
            $( $(#[$vmeta:meta])* $variant:ident($object:ty) = $value:literal; )*
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name {
            $( $(#[$vmeta])* $variant($object), )*
            #[doc = concat!("A ", $what, " that this version does not know, as it came.")]
            Unknown($crate::value::Object),
        }

        impl $name {
            #[doc = concat!("The string under `", $tag, "`.")]
            #[must_use]
            pub fn tag(&self) -> &str {
                match self {
                    $( Self::$variant(_) => $value, )*
                    Self::Unknown(object) => {
                        object.get($tag).and_then($crate::value::Value::as_str).unwrap_or_default()
                    }
                }
            }
        }

        impl $crate::model::node::Node for $name {
            const EXPECTED: &'static str = "an object";

            fn from_json(
                value: $crate::value::Value,
                at: &$crate::model::path::At<'_>,
            ) -> Result<Self, $crate::model::Malformed> {
                use $crate::model::object::Members as _;
                let $crate::value::Value::Object(mut object) = value else {
                    return Err($crate::model::node::mistyped::<Self>(&value, at));
                };
                let tag = $crate::model::object::tag(&object, $tag, at)?;
                $( if tag == $value {
                    object.remove($tag);
                    return <$object>::from_object(object, at).map(Self::$variant);
                } )*
                Ok(Self::Unknown(object))
            }

            fn unrecognised(&self) -> Option<$crate::model::Unrecognised> {
                match self {
                    $( Self::$variant(object) => object.unrecognised(), )*
                    Self::Unknown(_) => Some($crate::model::Unrecognised::Tag {
                        union: $what,
                        tag: self.tag().to_owned(),
                    }),
                }
            }

            fn inspect(
                &self,
                at: &$crate::model::path::At<'_>,
                with: &mut impl $crate::model::node::Inspector,
            ) {
                match self {
                    $( Self::$variant(object) => object.inspect(at, with), )*
                    Self::Unknown(_) => {}
                }
            }

            fn inspect_unknown(
                &self,
                at: &$crate::model::path::At<'_>,
                with: &mut impl $crate::model::node::Inspector,
            ) {
                if let Self::Unknown(object) = self {
                    with.unknown_object(at, object);
                }
            }

            fn strip(&mut self) {
                match self {
                    $( Self::$variant(object) => object.strip(), )*
                    Self::Unknown(_) => {}
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(None)?;
                match self {
                    $( Self::$variant(object) => {
                        map.serialize_entry($tag, $value)?;
                        $crate::model::object::Members::write(object, &mut map)?;
                    } )*
                    Self::Unknown(object) => {
                        for (name, value) in object {
                            map.serialize_entry(name, value)?;
                        }
                    }
                }
                map.end()
            }
        }

        $crate::model::object::deserialize!($name);
    )*};
}

/// Reads the tag of a union: a union without a tag, or with one that is no string, is malformed.
pub(crate) fn tag<'a>(object: &'a Object, name: &str, at: &At<'_>) -> Result<&'a str, Malformed> {
    use super::node::{malformed, mistyped};
    match object.get(name) {
        Some(Value::String(tag)) => Ok(tag),
        Some(other) => Err(mistyped::<String>(other, &at.member(name))),
        None => Err(malformed(&at.member(name), super::Reason::Missing)),
    }
}

/// Writes names that can still hold a string outside of them.
///
/// - `set`: a closed set; a string outside of it is unrecognised.
/// - `literal`: where the protocol fixes one of them, the owner checks which, and any other string
///   is malformed.
macro_rules! names {
    ($(
        $(#[$meta:meta])*
        $kind:ident $name:ident, $what:literal {
            $( $(#[$vmeta:meta])* $variant:ident = $value:literal; )*
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $( $(#[$vmeta])* $variant, )*
            #[doc = concat!("A ", $what, " that this version does not know.")]
            Unknown(String),
        }

        impl $name {
            /// The name in JSON and on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $value, )*
                    Self::Unknown(name) => name,
                }
            }
        }

        impl From<&str> for $name {
            fn from(name: &str) -> Self {
                match name {
                    $( $value => Self::$variant, )*
                    _ => Self::Unknown(name.to_owned()),
                }
            }
        }

        impl From<String> for $name {
            fn from(name: String) -> Self {
                match name.as_str() {
                    $( $value => Self::$variant, )*
                    _ => Self::Unknown(name),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl $crate::model::node::Node for $name {
            const EXPECTED: &'static str = "a string";

            fn from_json(
                value: $crate::value::Value,
                at: &$crate::model::path::At<'_>,
            ) -> Result<Self, $crate::model::Malformed> {
                <String as $crate::model::node::Node>::from_json(value, at).map(Self::from)
            }

            fn unrecognised(&self) -> Option<$crate::model::Unrecognised> {
                $crate::model::object::unknown_name!($kind $what, self)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        $crate::model::object::deserialize!($name);
    )*};
}

macro_rules! unknown_name {
    (set $what:literal, $name:expr) => {
        match $name {
            Self::Unknown(value) => {
                Some($crate::model::Unrecognised::Name { set: $what, value: value.clone() })
            }
            _ => None,
        }
    };
    (literal $what:literal, $name:expr) => {
        None
    };
}

pub(crate) use {deserialize, names, objects, unions, unknown_name};
