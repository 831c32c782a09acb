//! Runs: where they begin, and what becomes of them.

use super::{Conversation, known};
use crate::conversation::run::{Run, RunOutcome, Tally};
use crate::conversation::version;
use crate::conversation::warning::WarningKind;
use crate::model::{RunFinished, RunStarted};

impl Conversation {
    pub(super) fn start_run(&mut self, body: &RunStarted, warnings: &mut Vec<WarningKind>) {
        if let Some(declared) = &body.protocol_version {
            warnings.extend(version::judge(declared));
        }
        let before = self.runs.iter().rev().find_map(|run| run.thread_id.as_ref());
        if let Some(before) = before.filter(|before| **before != body.thread_id) {
            let (before, now) = (before.clone(), body.thread_id.clone());
            warnings.push(WarningKind::OtherThread { before, now });
        }
        self.tally = Tally::default();
        self.between_streams = false;
        self.runs.push(Run::started(body));
        let Some(input) = &body.input else {
            self.takes_input_state = false;
            return;
        };
        // B8: what the state was before the first run.
        if std::mem::take(&mut self.takes_input_state)
            && let Some(state) = &input.state
        {
            self.state = state.clone();
        }
        // B5: what is held stays as it is.
        for message in known(&input.messages) {
            if !self.messages.contains(message.id()) {
                self.messages.put(message);
            }
        }
    }

    pub(super) fn finish_run(&mut self, body: &RunFinished, warnings: &mut Vec<WarningKind>) {
        if self.runs.last().is_none_or(|run| run.outcome.is_some()) {
            self.runs.push(Run::default());
        }
        let Some(run) = self.runs.last_mut() else { return };
        let ids = (run.thread_id.as_deref(), run.run_id.as_deref());
        if let (Some(thread), Some(started)) = ids
            && (thread, started) != (&body.thread_id, &body.run_id)
        {
            warnings.push(WarningKind::OtherRun {
                started: format!("{thread}/{started}"),
                finished: format!("{}/{}", body.thread_id, body.run_id),
            });
        }
        run.finish(body, &self.tally);
        // I3: a run that finishes and does not wait leaves nothing open.
        self.interrupts = match &run.outcome {
            Some(RunOutcome::Interrupted { interrupts, .. }) => interrupts.clone(),
            _ => Vec::new(),
        };
    }
}
