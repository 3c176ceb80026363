//! How far work has come that takes more than a second: a bar on a terminal, a line now and then elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use warpath::{Control, Progress};

use crate::arguments::ShowProgress;
use crate::{print, signals};

const PATIENCE: Duration = Duration::from_secs(1);

/// The time until the first line that nobody asked for.
const LONG_PATIENCE: Duration = Duration::from_secs(30);

/// A control handle that signals cancel, and that shows progress on standard error.
pub(crate) fn control(show: ShowProgress) -> Control {
    let control = Control::new();
    let control = match (show, std::io::stderr().is_terminal()) {
        (ShowProgress::Never, _) => control,
        (_, true) => watched(control, Bar::new()),
        (ShowProgress::Auto, false) => watched(control, Lines::after(LONG_PATIENCE)),
        (ShowProgress::Always, false) => watched(control, Lines::after(PATIENCE)),
    };
    signals::cancel_at_the_first(&control);
    control
}

/// Something that shows progress.
trait Show: Send + 'static {
    fn update(&mut self, progress: Progress);
}

fn watched(control: Control, show: impl Show) -> Control {
    let show = Mutex::new(show);
    control.watched_by(move |progress| {
        // If another thread holds it, that thread shows the progress.
        if let Ok(mut show) = show.try_lock() {
            show.update(progress);
        }
    })
}

/// A progress bar.
struct Bar {
    stage: &'static str,
    since: Instant,
    bar: ProgressBar,
}

impl Bar {
    fn new() -> Self {
        Bar { stage: "", since: Instant::now(), bar: ProgressBar::hidden() }
    }
}

impl Show for Bar {
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

/// Lines, each after twice the time of the one before, at least one a minute.
struct Lines {
    stage: &'static str,
    /// When the stage began.
    since: Instant,
    last: Instant,
    pause: Duration,
}

impl Lines {
    const LONGEST: Duration = Duration::from_secs(60);

    /// Lines of which the first comes after this time.
    fn after(pause: Duration) -> Self {
        let now = Instant::now();
        Lines { stage: "", since: now, last: now, pause }
    }

    /// The line that is due now, if any.
    fn line(&mut self, progress: Progress, now: Instant) -> Option<String> {
        if progress.stage != self.stage {
            (self.stage, self.since) = (progress.stage, now);
        }
        if now - self.last < self.pause {
            return None;
        }
        self.last = now;
        self.pause = Self::LONGEST.min(2 * self.pause);
        let Progress { stage, done, total } = progress;
        let elapsed = now - self.since;
        let after = HumanDuration(elapsed);
        if total == 0 {
            return Some(format!("progress: {stage}, {} done after {after}", print::grouped(done.into())));
        }
        // Rounded down: 100 % is the end.
        let percent = u128::from(done.min(total)) * 100 / u128::from(total);
        let left = elapsed.as_secs_f64() * total.saturating_sub(done) as f64 / done as f64;
        let left = Duration::try_from_secs_f64(left).map(|left| format!(", about {} to go", HumanDuration(left)));
        Some(format!("progress: {stage}, {percent} % after {after}{}", left.unwrap_or_default()))
    }
}

impl Show for Lines {
    fn update(&mut self, progress: Progress) {
        if let Some(line) = self.line(progress, Instant::now()) {
            print::to_stderr(&line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_ever_more_rarely() {
        let mut lines = Lines::after(PATIENCE);
        let start = lines.since;
        let at =
            |second: u64| (start + Duration::from_secs(second), Progress { stage: "solve", done: second, total: 500 });
        let shown: Vec<u64> = (0..400).filter(|&second| lines.line(at(second).1, at(second).0).is_some()).collect();
        assert_eq!(shown, [1, 3, 7, 15, 31, 63, 123, 183, 243, 303, 363]);
    }

    #[test]
    fn a_line_says_how_far_a_stage_is() {
        let mut lines = Lines::after(PATIENCE);
        let start = lines.since;
        assert_eq!(lines.line(Progress { stage: "load", done: 0, total: 0 }, start), None);
        let seconds = |seconds| start + Duration::from_secs(seconds);
        let line = lines.line(Progress { stage: "load", done: 1_500, total: 0 }, seconds(2));
        assert_eq!(line.as_deref(), Some("progress: load, 1,500 done after 2 seconds"));
        assert_eq!(lines.line(Progress { stage: "solve", done: 0, total: 8 }, seconds(3)), None);
        let line = lines.line(Progress { stage: "solve", done: 2, total: 8 }, seconds(13));
        assert_eq!(line.as_deref(), Some("progress: solve, 25 % after 10 seconds, about 30 seconds to go"));
    }
}
