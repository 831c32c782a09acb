//! What a run is asked with, what it waits for, and what it used.

use super::Reason;
use super::node::{Inspector, found, inspect_counts};
use super::object::{names, objects};
use super::path::At;
use crate::value::Value;

names! {
    /// What became of an interrupt.
    set ResumeStatus, "resume status" {
        /// It was answered; a refusal is an answer too.
        Resolved = "resolved";
        /// It was abandoned.
        Cancelled = "cancelled";
    }
}

macro_rules! run_input {
    ($write:ident) => {
        $write! {
        /// The request that starts a run. It travels as JSON, whatever the events travel as.
        RunAgentInput: RunAgentInput {
            required {
                /// Id of the conversation.
                thread_id: String = "threadId";
                /// Id of the run that is asked for.
                run_id: String = "runId";
                /// The whole history that the agent is shown, oldest first.
                messages: Vec<crate::model::Message> = "messages";
            }
            optional {
                /// The protocol version that the consumer speaks.
                protocol_version: String = "protocolVersion", with_protocol_version;
                /// Id of the run that launched this one.
                parent_run_id: String = "parentRunId", with_parent_run;
                /// The agent's state; absent means an empty object.
                state: crate::value::Value = "state", with_state;
                /// The tools that the consumer offers.
                tools: Vec<crate::model::Tool> = "tools", with_tools;
                /// Facts that the consumer tells the agent.
                context: Vec<crate::model::Context> = "context", with_context;
                /// Passed through untouched.
                forwarded_props: crate::value::Value = "forwardedProps", with_forwarded_props;
                /// Answers to the interrupts of an earlier run.
                resume: Vec<crate::model::ResumeEntry> = "resume", with_resume;
            }
        }
        }
    };
}

macro_rules! input_objects {
    ($write:ident) => { $write! {
    /// A tool that the consumer offers.
    Tool: Tool {
        required {
            /// Name of the tool.
            name: String = "name";
            /// What the tool does.
            description: String = "description";
        }
        optional {
            /// Its arguments, normally as a JSON Schema.
            parameters: crate::value::Value = "parameters", with_parameters;
            /// Open by key.
            metadata: crate::value::Object = "metadata", with_metadata;
        }
    }

    /// A fact that the consumer tells the agent.
    Context: Context {
        required {
            /// What the fact is about.
            description: String = "description";
            /// The fact.
            value: String = "value";
        }
    }

    /// The answer to an interrupt of an earlier run.
    ResumeEntry: ResumeEntry {
        required {
            /// Id of the interrupt.
            interrupt_id: String = "interruptId";
            /// Answered or abandoned.
            status: crate::model::ResumeStatus = "status";
        }
        optional {
            /// The answer.
            payload: crate::value::Value = "payload", with_payload;
            /// Open by key.
            metadata: crate::value::Object = "metadata", with_metadata;
        }
    }

    /// Something that a run waits for.
    Interrupt: Interrupt {
        required {
            /// Id of the interrupt.
            id: String = "id";
            /// Why the run waits.
            reason: String = "reason";
        }
        optional {
            /// What to show to the user.
            message: String = "message", with_message;
            /// Id of the tool call that waits.
            tool_call_id: String = "toolCallId", with_tool_call;
            /// JSON Schema of the answer; an object. The wire has room for any value, so one that
            /// is no object can be held, and is malformed.
            response_schema: crate::value::Value = "responseSchema", with_response_schema;
            /// Free text, by convention an ISO 8601 time.
            expires_at: String = "expiresAt", with_expires_at;
            /// Open by key; an object, held as [`Interrupt::response_schema`] is.
            metadata: crate::value::Value = "metadata", with_metadata;
            /// The subagent that waits.
            subagent_run_id: String = "subagentRunId", with_subagent;
        }
        check crate::model::input::check_objects;
    }

    /// Tokens used with one model. An absent count is unknown, which is not zero.
    TokenUsage: Usage {
        optional {
            /// The provider, by its lower-case vendor id.
            provider: String = "provider", with_provider;
            /// The model.
            model: String = "model", with_model;
            /// All tokens read.
            input_tokens: i64 = "inputTokens", with_input_tokens;
            /// All tokens written.
            output_tokens: i64 = "outputTokens", with_output_tokens;
            /// Input and output together.
            total_tokens: i64 = "totalTokens", with_total_tokens;
            /// The part of the output that is reasoning.
            reasoning_tokens: i64 = "reasoningTokens", with_reasoning_tokens;
            /// The part of the input that a cache held.
            cached_input_tokens: i64 = "cachedInputTokens", with_cached_input_tokens;
            /// The part of the input that was written to a cache.
            cache_write_input_tokens: i64 = "cacheWriteInputTokens", with_cache_write_input_tokens;
        }
        check crate::model::input::check_counts;
    }
    } };
}

pub(crate) use {input_objects, run_input};
run_input!(objects);
input_objects!(objects);

fn check_objects(interrupt: &Interrupt, at: &At<'_>, with: &mut impl Inspector) {
    let members =
        [("responseSchema", &interrupt.response_schema), ("metadata", &interrupt.metadata)];
    for (name, member) in members {
        if let Some(value) = member
            && !matches!(value, Value::Object(_) | Value::Null)
        {
            with.malformed(
                &at.member(name),
                Reason::Type { expected: "an object", found: found(value) },
            );
        }
    }
}

fn check_counts(usage: &TokenUsage, at: &At<'_>, with: &mut impl Inspector) {
    let counts = [
        ("inputTokens", usage.input_tokens),
        ("outputTokens", usage.output_tokens),
        ("totalTokens", usage.total_tokens),
        ("reasoningTokens", usage.reasoning_tokens),
        ("cachedInputTokens", usage.cached_input_tokens),
        ("cacheWriteInputTokens", usage.cache_write_input_tokens),
    ];
    inspect_counts(&counts, at, with);
}
