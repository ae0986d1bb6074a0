//! Small tasks that create tasks, whose times are taken from the coarse clock.

use super::sampling::{MANY, row, sampled_thread};
use super::*;
use crate::measure::{clock, coarse_clock, coarse_times};
use Event::*;

/// Steps of the coarse clock. They are so long that the real clock never overtakes them.
const STEP: u64 = 1 << 40;
/// Ticks from one event to the next, in the mean.
const EVENT: u64 = STEP / 1000;

/// A thread that executes tasks, and its time.
struct Play {
    t: &'static Thread,
    at: u64,
    random: u64,
    next_step: u64,
    /// How many events took the quick way.
    at_once: u64,
    /// The ticks between the two last events.
    between: u64,
    begin: u64,
    /// The sum of all waits, in ticks.
    waited: u64,
}

impl Play {
    fn new(t: &'static Thread) -> Self {
        let at = clock::now();
        coarse_clock::advance(at);
        Self {
            t,
            at,
            random: 88172645463325252,
            next_step: at + STEP,
            at_once: 0,
            between: 0,
            begin: at,
            waited: 0,
        }
    }

    /// A thread that has executed some of these tasks, so often that they are hot. How fast the test
    /// itself is does not matter.
    fn of_hot_tasks(regions: [&'static Region; 2]) -> Self {
        let mut play = Self::new(sampled_thread());
        for _ in 0..100 {
            play.task(regions, 7);
        }
        for node in play.t.tree.nodes().flatten() {
            coarse_times::consider(node, 0);
        }
        play
    }

    /// Time goes on by a random number of ticks.
    fn passes(&mut self) {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.between = self.random % (2 * EVENT);
        self.at += self.between;
        while self.next_step <= self.at {
            coarse_clock::advance(self.next_step);
            self.next_step += STEP;
        }
    }

    fn on(&mut self, event: Event, region: &'static Region) {
        self.passes();
        let (t, at) = (self.t, self.at);
        let is_at_once = || match event {
            TaskCreateEnter | TaskwaitEnter => t.opens_at_once(region),
            TaskEnd | TaskCreateExit | TaskwaitExit => t.closes_at_once(region),
            _ => false,
        };
        match region.has_coarse_times() && is_at_once() {
            true => self.at_once += 1,
            false => t.enter(|t| t.on(event, region, at)).unwrap(),
        }
    }

    fn begins(&mut self, task: &'static Region, depth: u64) {
        self.passes();
        let (t, at, execution) = (self.t, self.at, task.execution().unwrap());
        match execution.has_coarse_times() && t.begins_execution_at_once(execution, 1000 - depth) {
            true => self.at_once += 1,
            false => t.enter(|t| t.begins_task(task, depth, at)).unwrap(),
        }
    }

    /// Creates a task that is executed at once, in which the user marked a region.
    fn task_with(&mut self, task: &'static Region, inner: &'static Region) {
        self.on(TaskCreateEnter, task);
        self.begins(task, 1);
        self.on(UserBegin, inner);
        self.on(UserEnd, inner);
        self.on(TaskEnd, task.execution().unwrap());
        self.on(TaskCreateExit, task);
    }

    /// Creates a task that is executed at once, creates two others unless it is `depth` levels
    /// deep, and waits.
    fn task(&mut self, regions: [&'static Region; 2], depth: u64) {
        let [task, taskwait] = regions;
        self.on(TaskCreateEnter, task);
        self.begins(task, 100 - depth);
        if depth > 0 {
            self.task(regions, depth - 1);
            self.task(regions, depth - 1);
            self.on(TaskwaitEnter, taskwait);
            self.on(TaskwaitExit, taskwait);
            self.waited += self.between;
        }
        self.on(TaskEnd, task.execution().unwrap());
        self.on(TaskCreateExit, task);
    }
}

#[test]
fn counts_of_tasks_that_create_tasks_are_exact_and_times_are_near() {
    let regions = [region("task", 1), region("taskwait", 2)];
    let mut play = Play::of_hot_tasks(regions);
    // Depth 7: 255 tasks and 127 waits each.
    let times = MANY as u64 / 255;
    for _ in 100..times {
        play.task(regions, 7);
    }
    let execution = regions[0].execution().unwrap();
    let profile = profile_at(play.at, &[play.t], &[regions[0], execution, regions[1]]);
    let [created, executed, waits] = ["task", "taskexec", "taskwait"].map(|it| row(&profile, it));
    assert_eq!(
        (created.main.count, executed.main.count),
        (255 * times, 255 * times)
    );
    assert_eq!(waits.main.count, 127 * times);
    assert!(play.at_once > 2 * 255 * times, "{}", play.at_once);
    let estimate = waits.estimate().unwrap();
    assert!(estimate.timed < waits.main.count / 4, "{estimate:?}");
    // Three intervals, since chance is in it.
    let off = waits.main.ns.abs_diff(play.waited);
    assert!(off <= 3 * estimate.error_ns, "{off} {estimate:?}");
    assert!(estimate.error_ns < play.waited, "{estimate:?}");
    // The outermost creations follow each other, with an event's time between two of them.
    let all = profile
        .nodes
        .iter()
        .find(|node| node.parent.is_none())
        .unwrap();
    let whole: u64 = all.rows.iter().map(|row| row.main.ns).sum();
    let off = whole.abs_diff((play.at - play.begin) - times * EVENT);
    assert!(off < (play.at - play.begin) / 50, "{off}");
    let spread = profile.distributions.iter().flat_map(|of| &of.histogram);
    let spread: u64 = spread.map(|bucket| bucket.count).sum();
    assert_eq!(spread, (255 + 255 + 127) * times);
}

/// A member whose part has ended executes tasks until the team is joined. What lies between them is no task.
#[test]
fn tasks_behind_the_end_of_a_part_take_their_own_time() {
    let (parallel, task) = (region("parallel", 1), region("task", 2));
    let execution = task.execution().unwrap();
    let mut play = Play::new(sampled_thread());
    let t = play.t;
    let team = t.enter(|t| t.forks(parallel, play.at)).unwrap();
    t.enter(|t| t.begins(team, 0, 1, play.at));
    t.enter(|t| t.end_member(parallel, play.at));
    let mut tasks = |number: u64| {
        for _ in 0..number {
            play.begins(task, 1);
            play.on(TaskEnd, execution);
        }
        play.at
    };
    tasks(2000);
    for node in t.tree.nodes().flatten() {
        coarse_times::consider(node, 0);
    }
    let end = tasks(MANY as u64);
    let profile = profile_at(end, &[t], &[parallel, task, execution]);
    let executed = row(&profile, "taskexec").main;
    let expected = EVENT * executed.count;
    assert_eq!(executed.count, 2000 + MANY as u64);
    assert!(
        executed.ns.abs_diff(expected) < expected / 10,
        "{executed:?} {expected}"
    );
}

#[test]
fn a_long_task_keeps_its_own_time() {
    let regions = [region("task", 1), region("taskwait", 2)];
    let mut play = Play::of_hot_tasks(regions);
    play.on(TaskCreateEnter, regions[0]);
    play.begins(regions[0], 1);
    let begin = play.at;
    while play.at < begin + 7 * STEP {
        play.passes();
    }
    play.on(TaskEnd, regions[0].execution().unwrap());
    play.on(TaskCreateExit, regions[0]);
    let execution = regions[0].execution().unwrap();
    let profile = profile_at(play.at, &[play.t], &[regions[0], execution, regions[1]]);
    let of_execution =
        |of: &&profile::model::Distribution| profile.regions[of.region].region_type == "taskexec";
    let longest = profile.distributions.iter().filter(of_execution);
    let longest = longest.map(|of| of.max_ns).max().unwrap();
    assert!(longest.abs_diff(7 * STEP) <= STEP, "{longest}");
}

#[test]
fn what_else_happens_in_a_task_finds_its_place() {
    let regions = [region("task", 1), region("taskwait", 2)];
    let user = region("userRegion", 3);
    let mut play = Play::of_hot_tasks(regions);
    play.on(TaskCreateEnter, regions[0]);
    play.begins(regions[0], 1);
    play.on(UserBegin, user);
    let begin = play.at;
    play.on(UserEnd, user);
    let end = play.at;
    play.on(TaskEnd, regions[0].execution().unwrap());
    play.on(TaskCreateExit, regions[0]);
    let execution = regions[0].execution().unwrap();
    let profile = profile_at(
        play.at,
        &[play.t],
        &[regions[0], execution, regions[1], user],
    );
    let inner = row(&profile, "userRegion");
    assert_eq!((inner.main.count, inner.main.ns), (1, end - begin));
    let path = lines(&profile)
        .into_iter()
        .find(|line| line.starts_with("userRegion"))
        .unwrap();
    assert!(path.contains("in main/taskexec@1 in main/task@1"), "{path}");
}

/// Regions that are timed exactly stand around the tasks and in them.
#[test]
fn no_part_is_longer_than_the_whole() {
    let regions = [region("task", 1), region("taskwait", 2)];
    let [outer, inner] = [region("userRegion", 3), region("userRegion", 4)];
    let mut play = Play::of_hot_tasks(regions);
    for _ in 0..40 {
        play.on(UserBegin, outer);
        for _ in 0..100 {
            play.task_with(regions[0], inner);
        }
        play.on(UserEnd, outer);
    }
    for node in play.t.tree.nodes().flatten() {
        coarse_times::consider(node, 0);
    }
    for _ in 0..100 {
        play.on(UserBegin, outer);
        play.task_with(regions[0], inner);
        play.on(UserEnd, outer);
        let execution = regions[0].execution().unwrap();
        let all = [regions[0], execution, regions[1], outer, inner];
        let profile = profile_at(play.at, &[play.t], &all);
        let ticks = |node: &Node| node.rows.iter().map(|row| row.main.ns).sum::<u64>();
        for (index, node) in profile.nodes.iter().enumerate() {
            let parts = profile.nodes.iter().filter(|it| it.parent == Some(index));
            let parts: u64 = parts.map(ticks).sum();
            assert!(parts <= ticks(node), "{:#?}", lines(&profile));
        }
    }
}
