//! The table of the variables.

use super::Kind::{Bytes, Choice, Groups, Part, Seconds, Switch, SwitchOrTime, Text};
use super::Reader::{Both, Library, Wrapper};
use super::{Kind, Reader, Variable};

const fn row(
    reader: Reader,
    name: &'static str,
    kind: Kind,
    default: &'static str,
    help: &'static str,
) -> Variable {
    Variable {
        name,
        kind,
        default,
        help,
        reader,
        ompp: None,
    }
}

const fn same_as(ompp: &'static str, variable: Variable) -> Variable {
    Variable {
        ompp: Some(ompp),
        ..variable
    }
}

/// The variables.
pub const VARIABLES: &[Variable] = &[
    row(
        Library,
        "ROMP_MEASURE",
        Switch,
        "on",
        "Measure the program.",
    ),
    same_as(
        "OMPP_OUTDIR",
        row(
            Library,
            "ROMP_OUTPUT",
            Text,
            "the current directory at the start",
            "Directory for the files that are written; made if it does not exist.",
        ),
    ),
    same_as(
        "OMPP_APPNAME",
        row(
            Library,
            "ROMP_APPNAME",
            Text,
            "the name of the program",
            "Name of the application in the report and in the names of the files.",
        ),
    ),
    row(
        Library,
        "ROMP_CLOCK",
        Choice(&["tsc", "monotonic"]),
        "tsc where it ticks evenly, else monotonic",
        "The clock: the processor's counter or the system's monotonic clock.",
    ),
    row(
        Library,
        "ROMP_DISABLE",
        Groups,
        "none",
        "Groups of constructs that are not measured, such as atomic,flush.",
    ),
    row(
        Library,
        "ROMP_FUNCTIONS",
        Text,
        "all",
        "Functions to measure in a program that was built with --functions, such as solve*,!get_*: names with \
         * and ?; a ! in front leaves functions out.",
    ),
    row(
        Library,
        "ROMP_COUNTERS",
        Text,
        "none",
        "What the processor and the kernel count in each region, such as cycles,instructions or \
         page-faults; `romp report --explain counters` lists them.",
    ),
    row(
        Library,
        "ROMP_EVAL",
        Text,
        "none",
        "Formulas over counters, execT and execC in each region, such as \
         ipc=instructions/cycles,rate=page-faults/execT.",
    ),
    same_as(
        "OMPP_QUIET",
        row(Both, "ROMP_QUIET", Switch, "off", "Print nothing."),
    ),
    row(
        Library,
        "ROMP_SIGNALS",
        Switch,
        "on",
        "Write the profile at SIGTERM, SIGINT and SIGXCPU before the program dies of them, and at \
         SIGUSR1; only where the program does not handle them itself.",
    ),
    row(
        Library,
        "ROMP_DUMP_INTERVAL",
        Seconds,
        "never",
        "Write the profile every so many seconds while the program runs; each profile replaces the one before.",
    ),
    row(
        Library,
        "ROMP_MEMORY",
        Bytes,
        "128M",
        "Limit of the memory for records, with K, M or G; call paths beyond it count for the region around them.",
    ),
    row(
        Library,
        "ROMP_BUDGET",
        Part,
        "5%",
        "The part of the program's time that timing hot small constructs may take, or none to \
         time every instance. Counting the instances that are not timed comes on top. Counts are \
         exact; the times of the constructs that the report names are estimates, and an instance of \
         more than 2 ms (32 ms on a busy machine) is always timed. With a trace or counters every \
         instance is timed.",
    ),
    row(
        Library,
        "ROMP_THROTTLE",
        SwitchOrTime,
        "off",
        "Stop timing a region, and only count it, after 100000 executions of less than this time on average \
         (on: 1us). Regions that wait at a barrier or contain others are always timed. With this, nothing is \
         timed by sample.",
    ),
    row(
        Library,
        "ROMP_ORA_WAITS",
        Choice(&["all", "contended"]),
        "all",
        "Which waits for locks, critical sections, ordered regions and atomic operations are reported to a \
         collector: all, or only those where another thread is in the way (contended).",
    ),
    row(
        Library,
        "ROMP_TRACE",
        Switch,
        "off",
        "Write every event to a trace beside the profile, for romp trace.",
    ),
    row(
        Library,
        "ROMP_TRACE_LIMIT",
        Bytes,
        "4G",
        "Limit of the trace's size, with K, M or G.",
    ),
    row(
        Library,
        "ROMP_TRACE_KEEP",
        Choice(&["first", "last"]),
        "first",
        "Which events to keep if the trace reaches its limit: the first ones, or the last.",
    ),
    row(
        Library,
        "ROMP_TRACE_MEMORY",
        Bytes,
        "64M",
        "Limit of the memory for events that are not written yet; events beyond it are dropped \
         and counted.",
    ),
    row(
        Wrapper,
        "ROMP_OFF",
        Switch,
        "off",
        "Only run the compiler, and instrument nothing.",
    ),
    row(
        Wrapper,
        "ROMP_STRICT",
        Switch,
        "off",
        "Make it an error if a file cannot be measured, instead of a warning.",
    ),
    row(
        Wrapper,
        "ROMP_CHUNKS",
        Switch,
        "off",
        "Let traces show the chunks of loops, as --chunks does; this adds a comparison to each iteration. For \
         romp run: let traces show the chunks that the OpenMP runtime hands out.",
    ),
    row(
        Wrapper,
        "ROMP_PARTIAL_LIBRARY",
        Switch,
        "off",
        "The measurement library may lack functions: do not call those, as with --partial-library of romp instrument.",
    ),
    row(
        Wrapper,
        "ROMP_KEEP",
        Switch,
        "off",
        "Keep the instrumented text beside the output.",
    ),
    row(
        Wrapper,
        "ROMP_VERBOSE",
        Switch,
        "off",
        "Print the commands that are run.",
    ),
    row(
        Wrapper,
        "ROMP_PREPROCESS",
        Choice(&["auto", "always", "never"]),
        "auto",
        "Instrument the preprocessed source: where it shows more directives (auto), always, or never.",
    ),
    row(
        Wrapper,
        "ROMP_MESSAGES",
        Choice(&["auto", "exact"]),
        "auto",
        "auto: show the compiler's messages about the instrumented text where they are reliable. exact: \
         compile each source once more, unchanged, and show the messages of that.",
    ),
    row(
        Wrapper,
        "ROMP_INSTRUMENT_DISABLE",
        Groups,
        "none",
        "Groups of constructs that are not instrumented, such as atomic,flush.",
    ),
    row(
        Wrapper,
        "ROMP_INSTRUMENT_FUNCTIONS",
        Switch,
        "off",
        "Measure functions too, as the flag --functions of the wrappers does.",
    ),
    row(Wrapper, "ROMP_CC", Text, "cc", "The C compiler."),
    row(Wrapper, "ROMP_CXX", Text, "c++", "The C++ compiler."),
    row(
        Wrapper,
        "ROMP_FC",
        Text,
        "gfortran",
        "The Fortran compiler.",
    ),
    row(
        Wrapper,
        "ROMP_LIB",
        Text,
        "found beside the command",
        "The measurement library to link, or its directory.",
    ),
];
