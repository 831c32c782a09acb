//! What is another object in the model than on the wire.
//!
//! Rule: wire.md 4.3 to 4.8; [`crate::convert`] has the same rules, and all that is not usual.

use super::layout::{
    base_event, input_content, input_content_source, message, run_agent_input, run_finished_event,
    subagent_finished_event, tool_call_result_event,
};
use super::piece::{Body, Member, Message, write_list, write_optional};
use super::read::{Reader, safe_integer};
use super::write::Writer;
use crate::model::message::Members;
use crate::model::{
    Base, Content, Extra, Interrupt, Message as AnyMessage, Part, PartSource, Role, RunAgentInput,
    RunCancelled, RunFinished, RunFinishedOutcome, RunInterrupt, RunSuccess, SubagentFinished,
    SubagentFinishedOutcome, SubagentSuccess, SubagentSuspended, ToolCall, ToolCallResult,
};
use crate::value::Object;
use crate::value::direct::counted_here;
use crate::value::front::Front;
use crate::value::front::counted_len;

/// The first field of an event's message, which must declare the event's type.
pub(in crate::codec) struct ReadBase<'a> {
    pub(in crate::codec) timestamp: Option<i64>,
    /// The fields of the base that are open values. Few have any.
    pub(in crate::codec) open: &'a [u8],
    /// The fields behind the base.
    pub(in crate::codec) fields: &'a [u8],
}

/// Reads the base of an event, but for its open fields.
#[inline(always)]
pub(in crate::codec) fn read_base(message: &[u8], number: u8) -> Option<ReadBase<'_>> {
    let [0x0a, rest @ ..] = message else { return None };
    let (base, fields) = counted_here(rest)?;
    // What stands behind the base is read along, so that the timestamp can be read a word at a time.
    let mut rest = rest.get(rest.len() - fields.len() - base.len()..)?;
    let (mut declared, mut timestamp) = (0, None);
    if let [0x08, number, after @ ..] = rest {
        (declared, rest) = (*number, after);
    }
    if declared != number {
        return None;
    }
    if let [0x10, after @ ..] = rest {
        let (read, after) = safe_integer(after)?;
        (timestamp, rest) = (Some(read), after);
    }
    let open = rest.get(..rest.len().checked_sub(fields.len())?)?;
    Some(ReadBase { timestamp, open, fields })
}

/// Reads the open fields of a base, which few have.
#[inline(never)]
pub(super) fn read_open_base(mut from: Reader<'_>, into: &mut Base) -> Option<()> {
    into.raw_event = Member::read(&mut from, base_event::RAW_EVENT)?;
    into.metadata = Member::read(&mut from, base_event::METADATA)?;
    from.end(())
}

#[inline(always)]
pub(super) fn write_base(
    base: &Base,
    number: u8,
    into: &mut Writer<impl Front>,
    end: usize,
) -> Option<usize> {
    const BASE: u8 = 1 << 3 | 2;
    const TYPE: u8 = base_event::TYPE << 3;
    const TIMESTAMP: u8 = base_event::TIMESTAMP << 3;

    // As most bases are: all but the timestamp itself is put at once.
    if let Base { timestamp, metadata: None, raw_event: None } = base
        && number > 0
    {
        let Some(timestamp) = timestamp else {
            return into.out.put_array(end, [BASE, 2, TYPE, number]);
        };
        let at = into.out.put_varint(end, timestamp.cast_unsigned())?;
        let len = u8::try_from(end - at).ok()? + 3;
        return into.out.put_array(at, [BASE, len, TYPE, number, TIMESTAMP]);
    }
    write_any_base(base, number, into, end)
}

#[inline(never)]
fn write_any_base(
    base: &Base,
    number: u8,
    into: &mut Writer<impl Front>,
    end: usize,
) -> Option<usize> {
    let at = base.metadata.write(into, end, base_event::METADATA)?;
    let at = base.raw_event.write(into, at, base_event::RAW_EVENT)?;
    let at = base.timestamp.write(into, at, base_event::TIMESTAMP)?;
    let at = match number {
        0 => at,
        _ => into.out.put_array(at, [base_event::TYPE << 3, number])?,
    };
    into.close(at, 1, end)
}

#[inline]
pub(super) fn base_size(base: &Base, number: u8) -> Option<usize> {
    if base.metadata.is_some() || base.raw_event.is_some() {
        return None;
    }
    let number = if number == 0 { 0 } else { 2 };
    Some(2 + number + base.timestamp.size()?)
}

/// A part or a source is the one arm of its message. In JSON it is one object.
macro_rules! unions {
    ($($union:ident in $numbers:ident { $($arm:ident = $number:ident,)* })*) => {$(
        impl Body for $union {
            fn read_body<'a>(bytes: &'a [u8], from: &Reader<'a>) -> Option<Self> {
                let mut inner = from.inner(bytes, 0);
                $( if inner.is_at($numbers::$number) {
                    let bytes = inner.next_body()?;
                    let arm = Body::read_body(bytes, &inner)?;
                    return inner.end(Self::$arm(arm));
                } )*
                None
            }

            fn write_body(&self, into: &mut Writer<impl Front>, at: usize) -> Option<usize> {
                match self {
                    $( Self::$arm(arm) => write_optional(Some(arm), into, at, $numbers::$number), )*
                    Self::Unknown(_) => None,
                }
            }
        }
    )*};
}

unions! {
    Part in input_content {
        Text = TEXT,
        Image = IMAGE,
        Audio = AUDIO,
        Video = VIDEO,
        Document = DOCUMENT,
    }
    PartSource in input_content_source {
        Data = DATA,
        Url = URL,
        File = FILE,
    }
}

impl Content {
    fn text(&self) -> Option<&String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Parts(_) => None,
        }
    }

    fn parts(&self) -> &[Part] {
        self.as_parts().unwrap_or_default()
    }
}

/// The members of a message whatever its role, as the wire has them.
#[derive(Default)]
struct AnyRole<'m> {
    id: &'m str,
    content: Option<&'m String>,
    name: Option<&'m String>,
    tool_calls: &'m [ToolCall],
    tool_call_id: Option<&'m String>,
    error: Option<&'m String>,
    content_parts: &'m [Part],
    metadata: Option<&'m Object>,
    subagent_run_id: Option<&'m String>,
    encrypted_value: Option<&'m String>,
    activity_type: Option<&'m String>,
    activity_content: Option<&'m Object>,
    encrypted_value_type: Option<&'m String>,
}

impl Message for AnyMessage {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let id = Member::read(from, message::ID)?;
        let role: Role = Member::read(from, message::ROLE)?;
        let members = Members {
            content: Member::read(from, message::CONTENT)?,
            name: Member::read(from, message::NAME)?,
            tool_calls: Member::read(from, message::TOOL_CALLS)?,
            tool_call_id: Member::read(from, message::TOOL_CALL_ID)?,
            error: Member::read(from, message::ERROR)?,
            content_parts: Member::read(from, message::CONTENT_PARTS)?,
            metadata: Member::read(from, message::METADATA)?,
            subagent_run_id: Member::read(from, message::SUBAGENT_RUN_ID)?,
            encrypted_value: Member::read(from, message::ENCRYPTED_VALUE)?,
            activity_type: Member::read(from, message::ACTIVITY_TYPE)?,
            activity_content: Member::read(from, message::ACTIVITY_CONTENT)?,
            encrypted_value_type: Member::read(from, message::ENCRYPTED_VALUE_TYPE)?,
        };
        members.into_message(&role, id)
    }

    fn write(&self, into: &mut Writer<impl Front>, at: usize) -> Option<usize> {
        macro_rules! members {
            ($message:ident; $($member:ident)* $(; $name:ident: $value:expr)*) => {
                AnyRole {
                    id: &$message.id,
                    metadata: $message.metadata.as_ref(),
                    subagent_run_id: $message.subagent_run_id.as_ref(),
                    $( $member: $message.$member.as_ref(), )*
                    $( $name: $value, )*
                    ..AnyRole::default()
                }
            };
        }
        let members = match self {
            Self::Developer(it) => {
                members!(it; content name encrypted_value encrypted_value_type)
            }
            Self::System(it) => members!(it; content name encrypted_value encrypted_value_type),
            Self::Assistant(it) => members!(
                it; content name encrypted_value encrypted_value_type;
                tool_calls: it.tool_calls.as_deref().unwrap_or_default()
            ),
            Self::User(it) => members!(
                it; name encrypted_value encrypted_value_type;
                content: it.content.text(); content_parts: it.content.parts()
            ),
            Self::Tool(it) => members!(
                it; tool_call_id error encrypted_value encrypted_value_type;
                content: it.content.text(); content_parts: it.content.parts()
            ),
            Self::Activity(it) => members!(
                it; activity_type; activity_content: it.content.as_ref()
            ),
            Self::Reasoning(it) => members!(it; content encrypted_value encrypted_value_type),
            Self::Unknown(_) => return None,
        };
        let at =
            write_optional(members.encrypted_value_type, into, at, message::ENCRYPTED_VALUE_TYPE)?;
        let at = write_optional(members.activity_content, into, at, message::ACTIVITY_CONTENT)?;
        let at = write_optional(members.activity_type, into, at, message::ACTIVITY_TYPE)?;
        let at = write_optional(members.encrypted_value, into, at, message::ENCRYPTED_VALUE)?;
        let at = write_optional(members.subagent_run_id, into, at, message::SUBAGENT_RUN_ID)?;
        let at = write_optional(members.metadata, into, at, message::METADATA)?;
        let at = write_list(members.content_parts, into, at, message::CONTENT_PARTS)?;
        let at = write_optional(members.error, into, at, message::ERROR)?;
        let at = write_optional(members.tool_call_id, into, at, message::TOOL_CALL_ID)?;
        let at = write_list(members.tool_calls, into, at, message::TOOL_CALLS)?;
        let at = write_optional(members.name, into, at, message::NAME)?;
        let at = write_optional(members.content, into, at, message::CONTENT)?;
        let at = into.text(at, message::ROLE, self.tag())?;
        match members.id {
            "" => Some(at),
            id => into.text(at, message::ID, id),
        }
    }
}

impl Message for ToolCallResult {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        use tool_call_result_event as number;
        let subagent_run_id = Member::read(from, number::SUBAGENT_RUN_ID)?;
        let message_id = Member::read(from, number::MESSAGE_ID)?;
        let tool_call_id = Member::read(from, number::TOOL_CALL_ID)?;
        let content = Member::read(from, number::CONTENT)?;
        let role = Member::read(from, number::ROLE)?;
        let content = Content::of(content, Member::read(from, number::CONTENT_PARTS)?)?;
        let extra = Extra::default();
        Some(Self { message_id, tool_call_id, content, role, subagent_run_id, extra })
    }

    fn write(&self, into: &mut Writer<impl Front>, at: usize) -> Option<usize> {
        use tool_call_result_event as number;
        let at = write_list(self.content.parts(), into, at, number::CONTENT_PARTS)?;
        let at = self.role.write(into, at, number::ROLE)?;
        let at = write_optional(self.content.text(), into, at, number::CONTENT)?;
        let at = self.tool_call_id.write(into, at, number::TOOL_CALL_ID)?;
        let at = self.message_id.write(into, at, number::MESSAGE_ID)?;
        self.subagent_run_id.write(into, at, number::SUBAGENT_RUN_ID)
    }

    fn size(&self) -> Option<usize> {
        let content = self.content.text()?;
        Some(
            self.subagent_run_id.size()?
                + self.message_id.size()?
                + self.tool_call_id.size()?
                + counted_len(content.len())
                + self.role.size()?,
        )
    }
}

/// In JSON the payload of an outcome stands one object further in.
impl Message for RunFinished {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        use run_finished_event as number;
        let thread_id = Member::read(from, number::THREAD_ID)?;
        let run_id = Member::read(from, number::RUN_ID)?;
        let result = Member::read(from, number::RESULT)?;
        let name = from.text(number::OUTCOME)?;
        let interrupts: Option<Vec<Interrupt>> =
            from.inside(1, |from| Member::read(from, number::INTERRUPTS))?;
        let usage = Member::read(from, number::USAGE)?;
        let pending_tool_call_ids: Option<Vec<String>> =
            Member::read(from, number::PENDING_TOOL_CALL_IDS)?;
        let extra = Extra::default();
        let outcome = match (name, interrupts, pending_tool_call_ids) {
            ("", None, None) => None,
            ("success", None, pending_tool_call_ids) => {
                Some(RunFinishedOutcome::Success(RunSuccess { pending_tool_call_ids, extra }))
            }
            ("interrupt", interrupts, None) => {
                let interrupts = interrupts.unwrap_or_default();
                Some(RunFinishedOutcome::Interrupt(RunInterrupt { interrupts, extra }))
            }
            ("cancelled", None, None) => {
                Some(RunFinishedOutcome::Cancelled(RunCancelled { extra }))
            }
            _ => return None,
        };
        Some(Self { thread_id, run_id, result, outcome, usage, extra: Extra::default() })
    }

    fn write(&self, into: &mut Writer<impl Front>, at: usize) -> Option<usize> {
        use run_finished_event as number;
        let at = match &self.outcome {
            Some(RunFinishedOutcome::Success(outcome)) => {
                outcome.pending_tool_call_ids.write(into, at, number::PENDING_TOOL_CALL_IDS)?
            }
            _ => at,
        };
        let at = self.usage.write(into, at, number::USAGE)?;
        let at = match &self.outcome {
            Some(RunFinishedOutcome::Interrupt(outcome)) => {
                into.inside(1, |into| outcome.interrupts.write(into, at, number::INTERRUPTS))?
            }
            _ => at,
        };
        let at = match &self.outcome {
            Some(outcome) => into.text(at, number::OUTCOME, outcome.tag())?,
            None => at,
        };
        let at = self.result.write(into, at, number::RESULT)?;
        let at = self.run_id.write(into, at, number::RUN_ID)?;
        self.thread_id.write(into, at, number::THREAD_ID)
    }
}

impl Message for SubagentFinished {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        use subagent_finished_event as number;
        let subagent_run_id = Member::read(from, number::SUBAGENT_RUN_ID)?;
        let result = Member::read(from, number::RESULT)?;
        let name = from.text(number::OUTCOME)?;
        let interrupt_ids: Option<Vec<String>> = Member::read(from, number::INTERRUPT_IDS)?;
        let extra = Extra::default();
        let outcome = match (name, interrupt_ids) {
            ("", None) => None,
            ("success", None) => Some(SubagentFinishedOutcome::Success(SubagentSuccess { extra })),
            ("suspended", interrupt_ids) => {
                let outcome = SubagentSuspended { interrupt_ids, extra };
                Some(SubagentFinishedOutcome::Suspended(outcome))
            }
            _ => return None,
        };
        Some(Self { subagent_run_id, result, outcome, extra: Extra::default() })
    }

    fn write(&self, into: &mut Writer<impl Front>, at: usize) -> Option<usize> {
        use subagent_finished_event as number;
        let at = match &self.outcome {
            Some(SubagentFinishedOutcome::Suspended(outcome)) => {
                outcome.interrupt_ids.write(into, at, number::INTERRUPT_IDS)?
            }
            _ => at,
        };
        let at = match &self.outcome {
            Some(outcome) => into.text(at, number::OUTCOME, outcome.tag())?,
            None => at,
        };
        let at = self.result.write(into, at, number::RESULT)?;
        self.subagent_run_id.write(into, at, number::SUBAGENT_RUN_ID)
    }
}

/// The lists of an echoed input are always there, empty ones included.
impl Message for RunAgentInput {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        use run_agent_input as number;
        Some(Self {
            thread_id: Member::read(from, number::THREAD_ID)?,
            run_id: Member::read(from, number::RUN_ID)?,
            parent_run_id: Member::read(from, number::PARENT_RUN_ID)?,
            state: Member::read(from, number::STATE)?,
            messages: Member::read(from, number::MESSAGES)?,
            tools: Some(Member::read(from, number::TOOLS)?),
            context: Some(Member::read(from, number::CONTEXT)?),
            forwarded_props: Member::read(from, number::FORWARDED_PROPS)?,
            resume: Some(Member::read(from, number::RESUME)?),
            protocol_version: Member::read(from, number::PROTOCOL_VERSION)?,
            extra: Extra::default(),
        })
    }

    fn write(&self, into: &mut Writer<impl Front>, at: usize) -> Option<usize> {
        use run_agent_input as number;
        let at = self.protocol_version.write(into, at, number::PROTOCOL_VERSION)?;
        let at = self.resume.write(into, at, number::RESUME)?;
        let at = self.forwarded_props.write(into, at, number::FORWARDED_PROPS)?;
        let at = self.context.write(into, at, number::CONTEXT)?;
        let at = self.tools.write(into, at, number::TOOLS)?;
        let at = self.messages.write(into, at, number::MESSAGES)?;
        let at = self.state.write(into, at, number::STATE)?;
        let at = self.parent_run_id.write(into, at, number::PARENT_RUN_ID)?;
        let at = self.run_id.write(into, at, number::RUN_ID)?;
        self.thread_id.write(into, at, number::THREAD_ID)
    }
}
