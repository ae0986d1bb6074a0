//! A progress bar on the terminal while a large trace is read.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use trace::read::Trace;

/// Shorter work has no bar.
const FIRST_DRAW_AFTER: Duration = Duration::from_millis(500);
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);

/// Shows how much of a trace has been read while `work` runs, if that takes a while and
/// standard error is a terminal.
pub(super) fn shown<R>(trace: &Trace, work: impl FnOnce() -> R) -> R {
    let (done, is_done) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if is_done.recv_timeout(FIRST_DRAW_AFTER) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::new(trace.pages());
            let style = ProgressStyle::with_template("{wide_bar} {percent:>3} %, {eta} left");
            if let Ok(style) = style {
                bar.set_style(style);
            }
            loop {
                // In a second pass the bar starts again.
                bar.set_position(trace.pages_read() % bar.length().unwrap_or(1).max(1));
                if is_done.recv_timeout(REDRAW_INTERVAL) != Err(RecvTimeoutError::Timeout) {
                    break;
                }
            }
            bar.finish_and_clear();
        });
        let result = work();
        drop(done);
        result
    })
}
