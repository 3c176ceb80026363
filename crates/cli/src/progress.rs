//! A progress bar on a terminal for work that takes more than a second.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use warpath::{Control, Progress};

use crate::signals;

const PATIENCE: Duration = Duration::from_secs(1);

/// A control handle that signals cancel. If `show` and standard error is a terminal, a progress bar follows it.
pub(crate) fn control(show: bool) -> Control {
    let control = Control::new();
    let control = if show && std::io::stderr().is_terminal() {
        let bar = Mutex::new(Bar::new());
        control.watched_by(move |progress| {
            // If another thread holds the bar, that thread draws it.
            if let Ok(mut bar) = bar.try_lock() {
                bar.update(progress);
            }
        })
    } else {
        control
    };
    signals::cancel_at_the_first(&control);
    control
}

struct Bar {
    stage: &'static str,
    since: Instant,
    bar: ProgressBar,
}

impl Bar {
    fn new() -> Self {
        Bar { stage: "", since: Instant::now(), bar: ProgressBar::hidden() }
    }

    fn update(&mut self, progress: Progress) {
        if progress.stage != self.stage {
            self.bar.finish_and_clear();
            *self = Bar::new();
            self.stage = progress.stage;
        }
        let finished = progress.total > 0 && progress.done >= progress.total;
        if finished {
            self.bar.finish_and_clear();
            return;
        }
        if self.since.elapsed() < PATIENCE {
            return;
        }
        if self.bar.is_hidden() {
            self.bar = ProgressBar::with_draw_target(Some(progress.total), ProgressDrawTarget::stderr());
            let template = match progress.total {
                0 => "{msg:>10} {spinner} {human_pos} [{elapsed}]",
                _ => "{msg:>10} [{bar:40}] {percent:>3} % [{elapsed}, {eta} to go]",
            };
            if let Ok(style) = ProgressStyle::with_template(template) {
                self.bar.set_style(style.progress_chars("=> "));
            }
            self.bar.set_message(self.stage);
        }
        self.bar.set_length(progress.total);
        self.bar.set_position(progress.done);
    }
}
