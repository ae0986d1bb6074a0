//! Figures of the whole run: of programs whose teams nest unevenly, belong to
//! several initial threads, or are not measured from inside.

use profile::analysis::Report;
use profile::columns::Quantity;
use profile::overheads::Category;
use profile::printable::is_command;
use profile::region_kind::RegionKind;

use super::{about, each_compiler, require};

#[test]
fn uneven_nesting() {
    each_compiler("uneven_nesting", |measured| {
        let threads = measured.profile.run.max_threads;
        require(threads == 8, || format!("{threads} threads at once"))?;
        let report = Report::new(&measured.profile);
        let program = report.efficiency.program.unwrap_or_default();
        let all = 8 * measured.profile.run.duration_ns;
        require(program.time_ns == all, || format!("{program:?}"))?;
        Ok(())
    });
}

#[test]
fn initial_threads_in_turn() {
    each_compiler("initial_threads_in_turn", |measured| {
        let report = Report::new(&measured.profile);
        let rows = measured.profile.nodes.iter().flat_map(|node| &node.rows);
        let teams: Vec<u64> = rows.map(|row| row.seq().ns).filter(|ns| *ns > 0).collect();
        require(teams.len() == 5, || format!("teams {teams:?}"))?;
        let all: u64 = teams.iter().sum();
        let coverage = report.overheads.coverage.ns;
        about(700.0 / 1100.0).compare("union of the teams' times", coverage as f64 / all as f64)?;
        let longest = teams.iter().max().copied().unwrap_or_default();
        require((longest..all).contains(&coverage), || {
            format!("{coverage} ns of {teams:?}")
        })?;
        let threads = measured.profile.run.max_threads;
        require(threads == 4, || format!("{threads} threads at once")).map_err(Into::into)
    });
}

#[test]
fn measured_from_outside() {
    each_compiler("measured_from_outside", |measured| {
        let headline = measured.headline()?;
        require(
            headline.contains("not known") && !headline.contains("negligible"),
            || headline.clone(),
        )?;
        let report = Report::new(&measured.profile);
        let overheads = &report.overheads;
        require(overheads.threads_are_least, || "threads are known".into())?;
        require(overheads.untold.percent > 50.0, || {
            format!("{:?} untold", overheads.untold)
        })?;
        let table = report.flat.first();
        let executions =
            table.and_then(|table| Some(table.sum[table.column(Quantity::ExecCount)?]));
        require(executions == Some(1), || {
            format!("{executions:?} executions")
        })?;
        let mut xml = Vec::new();
        profile::report::xml::write(&report, &mut xml).map_err(|error| error.to_string())?;
        let xml = String::from_utf8_lossy(&xml).into_owned();
        require(xml.contains("<thread path=\"0\" count=\"1\" time="), || xml)?;
        Ok(())
    });
}

#[test]
fn hidden_barriers() {
    each_compiler("hidden_barriers", |measured| {
        let report = Report::new(&measured.profile);
        let overheads = &report.overheads;
        let regions = &measured.profile.regions;
        // The barrier of the loop is measured at the runtime's own barrier.
        for (kind, category, is_estimated, lost) in [
            (RegionKind::Parallel, Category::Imbal, true, 0.5),
            (RegionKind::Single, Category::Limpar, true, 0.5),
            (RegionKind::Loop, Category::Imbal, false, 0.45),
        ] {
            let mut places = overheads.places.iter();
            let place = places.find(|place| {
                let is_of =
                    regions[place.region].kind == kind && place.is_estimated == is_estimated;
                is_of && place.category == category
            });
            let Some(place) = place else {
                return Err(format!("no wait of {kind:?} in {:?}", overheads.places).into());
            };
            let table = report
                .flat
                .iter()
                .find(|table| table.region == place.region);
            let time = table.and_then(|table| Some(table.sum[table.column(Quantity::ExecTime)?]));
            let share = place.lost.ns as f64 / time.unwrap_or(1) as f64;
            about(lost).compare(&format!("wait of {kind:?}"), share)?;
        }
        let management = overheads.whole_sum.by_category[Category::Mgmt as usize].percent;
        about(0.0).compare("management", management / 100.0)
    });
}

#[test]
fn names_with_commands() {
    each_compiler("names_with_commands", |measured| {
        let headline = measured.headline()?;
        require(headline.contains("a\\u{1b}[31m.c"), || headline.clone())?;
        let report = Report::new(&measured.profile);
        for writer in profile::report::WRITERS {
            let mut out = Vec::new();
            (writer.write)(&report, &mut out).map_err(|error| error.to_string())?;
            let text = String::from_utf8_lossy(&out).into_owned();
            // An archive has zeros between its files.
            let is_bad = |c: char| {
                is_command(c) && c != '\n' && c != '\t' && (c != '\0' || writer.name != "tau")
            };
            require(!text.contains(is_bad), || writer.name.to_owned())?;
        }
        require(!headline.trim_end().contains(is_command), || {
            headline.clone()
        })?;
        Ok(())
    });
}
