//! What an agent says that it can do. Travels as JSON, in no event; the wire has no form for it.
//!
//! An absent member is undeclared, which is not the same as unsupported.

use super::Tool;
use super::node::{Inspector, inspect_counts};
use super::object::objects;
use super::path::At;
use crate::value::Object;

objects! {
    /// What an agent says that it can do.
    AgentCapabilities {
        optional {
            /// Who the agent is.
            identity: IdentityCapabilities = "identity", with_identity;
            /// How it can be reached.
            transport: TransportCapabilities = "transport", with_transport;
            /// Which tools it has and takes.
            tools: ToolsCapabilities = "tools", with_tools;
            /// What it answers with.
            output: OutputCapabilities = "output", with_output;
            /// What it does with state.
            state: StateCapabilities = "state", with_state;
            /// Whether it works with other agents.
            multi_agent: MultiAgentCapabilities = "multiAgent", with_multi_agent;
            /// Whether it shows its reasoning.
            reasoning: ReasoningCapabilities = "reasoning", with_reasoning;
            /// Which media it reads and writes.
            multimodal: MultimodalCapabilities = "multimodal", with_multimodal;
            /// Whether it runs code.
            execution: ExecutionCapabilities = "execution", with_execution;
            /// Where it asks people.
            human_in_the_loop: HumanInTheLoopCapabilities = "humanInTheLoop", with_human_in_the_loop;
            /// Open by key.
            custom: Object = "custom", with_custom;
        }
    }

    /// Who the agent is.
    IdentityCapabilities {
        optional {
            /// Its name.
            name: String = "name", with_name;
            /// What it is built with.
            r#type: String = "type", with_type;
            /// What it is for.
            description: String = "description", with_description;
            /// Its version.
            version: String = "version", with_version;
            /// Who provides it.
            provider: String = "provider", with_provider;
            /// Where to read about it.
            documentation_url: String = "documentationUrl", with_documentation_url;
            /// Open by key.
            metadata: Object = "metadata", with_metadata;
        }
    }

    /// How the agent can be reached.
    TransportCapabilities {
        optional {
            /// As a stream of events.
            streaming: bool = "streaming", with_streaming;
            /// Over a WebSocket.
            websocket: bool = "websocket", with_websocket;
            /// With protobuf over HTTP.
            http_binary: bool = "httpBinary", with_http_binary;
            /// With push notifications.
            push_notifications: bool = "pushNotifications", with_push_notifications;
            /// With streams that resume.
            resumable: bool = "resumable", with_resumable;
        }
    }

    /// Which tools the agent has and takes.
    ToolsCapabilities {
        optional {
            /// Whether it calls tools.
            supported: bool = "supported", with_supported;
            /// Whether it calls several at once.
            parallel_calls: bool = "parallelCalls", with_parallel_calls;
            /// Whether it calls tools that the consumer offers.
            client_provided: bool = "clientProvided", with_client_provided;
            /// The tools it has.
            items: Vec<Tool> = "items", with_items;
        }
    }

    /// What the agent answers with.
    OutputCapabilities {
        optional {
            /// Whether it answers in a given structure.
            structured_output: bool = "structuredOutput", with_structured_output;
            /// The media types it writes.
            supported_mime_types: Vec<String> = "supportedMimeTypes", with_supported_mime_types;
        }
    }

    /// What the agent does with state.
    StateCapabilities {
        optional {
            /// Whether it sends snapshots.
            snapshots: bool = "snapshots", with_snapshots;
            /// Whether it sends patches.
            deltas: bool = "deltas", with_deltas;
            /// Whether it remembers.
            memory: bool = "memory", with_memory;
            /// Whether its state outlives a run.
            persistent_state: bool = "persistentState", with_persistent_state;
        }
    }

    /// Whether the agent works with other agents.
    MultiAgentCapabilities {
        optional {
            /// Whether it does at all.
            supported: bool = "supported", with_supported;
            /// Whether it delegates.
            delegation: bool = "delegation", with_delegation;
            /// Whether it hands over.
            handoffs: bool = "handoffs", with_handoffs;
            /// The subagents it has.
            subagents: Vec<SubagentInfo> = "subagents", with_subagents;
        }
    }

    /// A subagent that an agent has.
    SubagentInfo {
        required {
            /// Its name.
            name: String = "name";
        }
        optional {
            /// What it is for.
            description: String = "description", with_description;
        }
    }

    /// Whether the agent shows its reasoning.
    ReasoningCapabilities {
        optional {
            /// Whether it does at all.
            supported: bool = "supported", with_supported;
            /// Whether it streams it.
            streaming: bool = "streaming", with_streaming;
            /// Whether it encrypts it.
            encrypted: bool = "encrypted", with_encrypted;
        }
    }

    /// Which media the agent reads and writes.
    MultimodalCapabilities {
        optional {
            /// What it reads.
            input: MultimodalInputCapabilities = "input", with_input;
            /// What it writes.
            output: MultimodalOutputCapabilities = "output", with_output;
        }
    }

    /// Which media the agent reads.
    MultimodalInputCapabilities {
        optional {
            /// Images.
            image: bool = "image", with_image;
            /// Sound.
            audio: bool = "audio", with_audio;
            /// Moving pictures.
            video: bool = "video", with_video;
            /// PDF documents.
            pdf: bool = "pdf", with_pdf;
            /// Other files.
            file: bool = "file", with_file;
        }
    }

    /// Which media the agent writes.
    MultimodalOutputCapabilities {
        optional {
            /// Images.
            image: bool = "image", with_image;
            /// Sound.
            audio: bool = "audio", with_audio;
        }
    }

    /// Whether the agent runs code.
    ExecutionCapabilities {
        optional {
            /// Whether it does at all.
            code_execution: bool = "codeExecution", with_code_execution;
            /// Whether in a sandbox.
            sandboxed: bool = "sandboxed", with_sandboxed;
            /// How often at the most.
            max_iterations: i64 = "maxIterations", with_max_iterations;
            /// How long at the most, in milliseconds.
            max_execution_time: i64 = "maxExecutionTime", with_max_execution_time;
        }
        check check_counts;
    }

    /// Where the agent asks people.
    HumanInTheLoopCapabilities {
        optional {
            /// Whether it does at all.
            supported: bool = "supported", with_supported;
            /// For approval.
            approvals: bool = "approvals", with_approvals;
            /// To step in.
            interventions: bool = "interventions", with_interventions;
            /// For feedback.
            feedback: bool = "feedback", with_feedback;
            /// With interrupts.
            interrupts: bool = "interrupts", with_interrupts;
            /// For approval with changes.
            approve_with_edits: bool = "approveWithEdits", with_approve_with_edits;
        }
    }
}

fn check_counts(execution: &ExecutionCapabilities, at: &At<'_>, with: &mut impl Inspector) {
    let counts = [
        ("maxIterations", execution.max_iterations),
        ("maxExecutionTime", execution.max_execution_time),
    ];
    inspect_counts(&counts, at, with);
}
