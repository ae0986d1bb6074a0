//! An archive that is being written: first the events of one location after the other, then the
//! definitions that they refer to.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_int};
use std::path::Path;
use std::ptr::null_mut;

use crate::library::{FLUSH, Handle, text};
use crate::{Definitions, Error, Library, Location, Region, Team};

/// Numbers that stand for nothing.
const NONE: u32 = u32::MAX;
/// `OTF2_PARADIGM_OPENMP`
const OPENMP: u8 = 3;
/// `OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN`
const FORK_JOIN: u8 = 1;
/// `OTF2_GROUP_TYPE_COMM_LOCATIONS`
const LOCATIONS: u8 = 4;
/// `OTF2_GROUP_TYPE_COMM_GROUP`
const GROUP: u8 = 5;
/// `OTF2_COLLECTIVE_OP_BARRIER`
const BARRIER: u8 = 0;
/// `OTF2_METRIC_TYPE_OTHER`, `OTF2_METRIC_ACCUMULATED_START`, `OTF2_TYPE_UINT64`,
/// `OTF2_BASE_DECIMAL`: a counter.
const OTHER: u8 = 0;
const ACCUMULATED: u8 = 0;
const UINT64: u8 = 4;
const DECIMAL: u8 = 1;
/// `OTF2_METRIC_SYNCHRONOUS`: values come with events, not with all of them.
const SYNCHRONOUS: u8 = 1;
/// `OTF2_RECORDER_KIND_CPU`
const CPU: u8 = 2;
/// Bytes of a buffer, before it is written out.
const EVENT_CHUNK: u64 = 1 << 20;
const DEFINITION_CHUNK: u64 = 4 << 20;

/// An archive that is open for writing. It is closed by [`Archive::finish`]; an archive that is
/// dropped earlier has no definitions and cannot be read.
#[derive(Debug)]
pub struct Archive<'l> {
    library: &'l Library,
    handle: Handle,
    is_open: bool,
}

fn checked(call: &'static str, code: c_int) -> Result<(), Error> {
    match code {
        0 => Ok(()),
        code => Err(Error::Refused { call, code }),
    }
}

fn c_string(text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::Name(text.to_owned()))
}

fn there(call: &'static str, handle: Handle) -> Result<Handle, Error> {
    match handle.is_null() {
        true => Err(Error::Refused { call, code: -1 }),
        false => Ok(handle),
    }
}

/// Calls a function of the library's with handles that it gave.
macro_rules! call {
    ($library:expr, $function:ident($($argument:expr),*)) => {
        // SAFETY: the function has the type of the headers; handles come from the
        // library and are not closed yet; strings and arrays outlive the call.
        checked(stringify!($function), unsafe { ($library.$function)($($argument),*) })
    };
}

impl<'l> Archive<'l> {
    /// Makes an archive: `FOLDER/NAME.otf2` and the files that belong to it.
    ///
    /// # Errors
    /// If the library cannot make it, as when the folder is there already.
    pub fn create(library: &'l Library, folder: &Path, name: &str) -> Result<Self, Error> {
        let folder = c_string(&folder.to_string_lossy())?;
        let name = c_string(name)?;
        // SAFETY: as for `call!`; 0 is to write, 1 means POSIX files and 1 no compression.
        let handle = unsafe {
            (library.open)(
                text(&folder),
                text(&name),
                0,
                EVENT_CHUNK,
                DEFINITION_CHUNK,
                1,
                1,
            )
        };
        let handle = there("open", handle)?;
        let archive = Self {
            library,
            handle,
            is_open: true,
        };
        call!(library, set_flush(handle, &raw const FLUSH, null_mut()))?;
        call!(library, set_serial(handle))?;
        call!(library, open_events(handle))?;
        Ok(archive)
    }

    /// Begins the events of a location.
    ///
    /// # Errors
    /// If the library refuses.
    pub fn events(&mut self, location: u64) -> Result<Events<'_>, Error> {
        // SAFETY: as for `call!`.
        let writer = unsafe { (self.library.event_writer)(self.handle, location) };
        Ok(Events {
            library: self.library,
            archive: self.handle,
            writer: there("event_writer", writer)?,
            count: 0,
            last: 0,
            lifetime: std::marker::PhantomData,
        })
    }

    /// Writes the definitions and closes the archive.
    ///
    /// # Errors
    /// If the library refuses.
    pub fn finish(mut self, mut all: Definitions) -> Result<(), Error> {
        let (library, archive) = (self.library, self.handle);
        call!(library, close_events(archive))?;
        self.local(&all.locations)?;
        let [empty, node, machine, openmp, threads] =
            ["", "node", "machine", "OpenMP", "threads"].map(|text| all.strings.number(text));
        // SAFETY: as for `call!`.
        let out = there("global_writer", unsafe { (library.global_writer)(archive) })?;
        call!(
            library,
            clock(out, 1_000_000_000, 0, all.length, all.started)
        )?;
        for (number, string) in (0..).zip(all.strings.all()) {
            let string: &CStr = &c_string(string)?;
            call!(library, string(out, number, text(string)))?;
        }
        call!(library, paradigm(out, OPENMP, openmp, FORK_JOIN))?;
        let place = all.place;
        call!(library, node(out, 0, place.machine, machine, NONE))?;
        call!(library, node(out, 1, place.node, node, 0))?;
        call!(library, process(out, 0, place.process, 1, 1, NONE))?;
        for location in &all.locations {
            let Location {
                number,
                name,
                events,
            } = *location;
            call!(library, location(out, number, name, 1, events, 0))?;
        }
        for (number, region) in (0..).zip(&all.regions) {
            let Region {
                name,
                role,
                file,
                lines: (first, last),
            } = *region;
            let role = role as u8;
            call!(
                library,
                region(
                    out, number, name, name, empty, role, OPENMP, 0, file, first, last
                )
            )?;
        }
        self.teams(out, threads, &all)?;
        self.counters(out, empty, &all.counters)?;
        self.is_open = false;
        call!(library, close(archive))
    }

    /// The threads, and the teams that they were in: groups of places among the threads.
    fn teams(&self, out: Handle, threads: u32, all: &Definitions) -> Result<(), Error> {
        let library = self.library;
        let numbers: Vec<u64> = all.locations.iter().map(|each| each.number).collect();
        let count = |members: &[u64]| u32::try_from(members.len()).unwrap_or(NONE);
        call!(
            library,
            group(
                out,
                0,
                threads,
                LOCATIONS,
                OPENMP,
                0,
                count(&numbers),
                numbers.as_ptr()
            )
        )?;
        let everybody = Team {
            name: threads,
            members: (0..).take(numbers.len()).collect(),
            parent: NONE,
        };
        for (number, team) in (0..).zip(std::iter::once(&everybody).chain(&all.teams)) {
            let (name, members, parent) = (team.name, &team.members, team.parent);
            call!(
                library,
                group(
                    out,
                    number + 1,
                    name,
                    GROUP,
                    OPENMP,
                    0,
                    count(members),
                    members.as_ptr()
                )
            )?;
            call!(library, comm(out, number, name, number + 1, parent, 0))?;
        }
        Ok(())
    }

    /// The counters: one metric of each thread that has them all.
    fn counters(&self, out: Handle, empty: u32, names: &[u32]) -> Result<(), Error> {
        let library = self.library;
        let members: Vec<u32> = (0..).take(names.len()).collect();
        for (number, name) in members.iter().zip(names) {
            call!(
                library,
                metric_member(
                    out,
                    *number,
                    *name,
                    empty,
                    OTHER,
                    ACCUMULATED,
                    UINT64,
                    DECIMAL,
                    0,
                    empty
                )
            )?;
        }
        let Some(count) = u8::try_from(members.len()).ok().filter(|count| *count > 0) else {
            return Ok(());
        };
        call!(
            library,
            metric_class(out, 0, count, members.as_ptr(), SYNCHRONOUS, CPU)
        )
    }

    /// Readers want a file of definitions for each location, even if it is empty.
    fn local(&self, locations: &[Location]) -> Result<(), Error> {
        let (library, archive) = (self.library, self.handle);
        call!(library, open_local(archive))?;
        for location in locations {
            // SAFETY: as for `call!`.
            let writer = unsafe { (library.local_writer)(archive, location.number) };
            let writer = there("local_writer", writer)?;
            call!(library, close_local_writer(archive, writer))?;
        }
        call!(library, close_local(archive))
    }
}

impl Drop for Archive<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // SAFETY: as for `call!`; it is closed once.
            unsafe { (self.library.close)(self.handle) };
        }
    }
}

/// The events of one location, in the order of time.
#[derive(Debug)]
pub struct Events<'a> {
    library: &'a Library,
    archive: Handle,
    writer: Handle,
    count: u64,
    last: u64,
    lifetime: std::marker::PhantomData<&'a mut ()>,
}

macro_rules! event {
    ($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) = $($more:expr),*) => {
        $(#[$doc])*
        ///
        /// # Errors
        /// If the library refuses.
        pub fn $name(&mut self, at: u64 $(, $argument: $type)*) -> Result<(), Error> {
            let at = self.next(at);
            call!(self.library, $name(self.writer, null_mut(), at $(, $more)*))
        }
    };
}

impl Events<'_> {
    /// Counts an event; time never goes back.
    fn next(&mut self, at: u64) -> u64 {
        self.count += 1;
        self.last = self.last.max(at);
        self.last
    }

    event!(
        /// A region is entered.
        enter(region: u32) = region
    );
    event!(
        /// A region is left.
        leave(region: u32) = region
    );
    event!(
        /// A team is forked, for which `threads` threads were asked for.
        fork(threads: u32) = OPENMP, threads
    );
    event!(
        /// The team that was forked last has ended.
        join() = OPENMP
    );
    event!(
        /// The thread begins to be a member of a team.
        team_begin(team: u32) = team
    );
    event!(
        /// The thread is no longer a member of the team.
        team_end(team: u32) = team
    );
    event!(
        /// The thread arrives at a barrier.
        collective_begin() =
    );
    event!(
        /// The barrier of its team is over.
        collective_end(team: u32) = BARRIER, team, NONE, 0, 0
    );
    event!(
        /// The thread creates a task of a team: the number of the creating thread in that team,
        /// and the number of the task.
        task_create(team: u32, thread: u32, number: u32) = team, thread, number
    );
    event!(
        /// The thread goes on with a task.
        task_switch(team: u32, thread: u32, number: u32) = team, thread, number
    );
    event!(
        /// The thread has executed a task to its end.
        task_complete(team: u32, thread: u32, number: u32) = team, thread, number
    );

    /// How far the counters of the thread have counted at the event that follows.
    ///
    /// # Errors
    /// If the library refuses.
    pub fn counters(&mut self, at: u64, values: &[u64]) -> Result<(), Error> {
        let at = self.next(at);
        let kinds = vec![UINT64; values.len()];
        let count = u8::try_from(values.len()).unwrap_or(u8::MAX);
        call!(
            self.library,
            metric(
                self.writer,
                null_mut(),
                at,
                0,
                count,
                kinds.as_ptr(),
                values.as_ptr()
            )
        )
    }

    /// Ends the events of the location. Returns how many there were.
    ///
    /// # Errors
    /// If the library refuses.
    pub fn finish(self) -> Result<u64, Error> {
        call!(self.library, close_event_writer(self.archive, self.writer))?;
        Ok(self.count)
    }
}
