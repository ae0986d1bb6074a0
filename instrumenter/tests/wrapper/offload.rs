//! The code in `target` constructs is measured if no code is made for a device.

use std::os::unix::fs::PermissionsExt;

use crate::support::{COMPILERS, Project};

const SOURCE: &str = "\
int work(int n) {
#pragma omp target map(tofrom : n)
  {
#pragma omp parallel
    {
#pragma omp critical
      n += 1;
    }
  }
  return n;
}
";

/// Whether the constructs inside the target are measured in the object.
fn goes_inside(project: &Project) -> bool {
    let object = project.bytes("a.o");
    let contains = |name: &[u8]| object.windows(name.len()).any(|part| part == name);
    assert!(contains(b"POMP_Target_enter"));
    contains(b"POMP_Critical_enter")
}

#[test]
fn without_a_device_the_host_is_measured() {
    for compiler in COMPILERS {
        let project = Project::new(&[("a.c", SOURCE)]);
        project
            .rompcc(compiler, "-fopenmp -c a.c")
            .env("ROMP_STRICT", "1")
            .quietly();
        assert!(goes_inside(&project), "{compiler}");
    }
}

#[test]
fn procedures_that_may_run_on_a_device_are_measured_without_one() {
    let in_c = "#pragma omp declare target\nvoid f(int *a) {\n#pragma omp parallel\n  a[0]++;\n}\n\
                #pragma omp end declare target\n";
    let in_fortran = "subroutine f(a)\ninteger :: a(4), i\n!$omp declare target\n\
                      !$omp parallel do\ndo i = 1, 4\na(i) = i\nend do\nend subroutine\n";
    for (name, compiler, text) in [
        ("a.c", "gcc", in_c),
        ("a.cpp", "g++", in_c),
        ("a.f90", "gfortran", in_fortran),
    ] {
        let project = Project::new(&[(name, text)]);
        let build = project.rompcc(compiler, &format!("-fopenmp -c {name} -o a.o"));
        build.env("ROMP_STRICT", "1").quietly();
        assert!(project.is_measured("a.o"), "{name}");
    }
}

/// A fake GCC that claims to be built for a device.
const FOR_A_DEVICE: &str = "\
#!/bin/sh
for word; do last=$word; done
if [ \"$last\" = -v ]; then
  printf 'OFFLOAD_TARGET_NAMES=nvptx-none\\ngcc version 12\\n' >&2
else
  exec gcc \"$@\"
fi
";

#[test]
fn with_a_device_nothing_is_called_on_it() {
    let compiler_of_device = "parts/accel/nvptx-none/mkoffload";
    let project = Project::new(&[
        ("a.c", SOURCE),
        ("bin/gcc", FOR_A_DEVICE),
        (compiler_of_device, "#!/bin/sh\nexit 1\n"),
    ]);
    for name in ["bin/gcc", compiler_of_device] {
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(project.path(name), executable).unwrap();
    }
    let gcc = project.path("bin/gcc").display().to_string();
    for (flags, inside) in [
        ("-Bnowhere/", true),
        ("-Bparts/", false),
        ("-B parts/", false),
        ("-Bparts/ -foffload=disable", true),
    ] {
        project
            .rompcc(&gcc, &format!("-fopenmp {flags} -c a.c"))
            .env("ROMP_STRICT", "1")
            .quietly();
        assert_eq!(goes_inside(&project), inside, "{flags}");
    }
}

#[test]
fn only_device_code_makes_us_ask() {
    let asks = "#!/bin/sh\nfor word; do [ \"$word\" = -v ] && touch asked; done\nexec gcc \"$@\"\n";
    let plain = "double target;\nvoid f(void) {\n#pragma omp parallel\n{ target = 1; }\n}\n";
    let project = Project::new(&[("a.c", SOURCE), ("b.c", plain), ("bin/gcc", asks)]);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.path("bin/gcc"), executable).unwrap();
    let gcc = project.path("bin/gcc").display().to_string();
    for (file, asked) in [("b.c", false), ("a.c", true)] {
        project
            .rompcc(&gcc, &format!("-fopenmp -c {file}"))
            .env("ROMP_STRICT", "1")
            .quietly();
        assert_eq!(project.path("asked").exists(), asked, "{file}");
    }
}
