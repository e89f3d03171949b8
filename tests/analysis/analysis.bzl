"""clang-tidy, and clang's analysis of the lock annotations, as a test of each library and program; see README.md."""

# Whose sources are analysed.
_PROGRAMS = ["client", "daemon", "proto", "secure_mcu", "sim"]

_FLAGS = [
    "-std=c++20",
    "-iquote.",
    "-Wreserved-identifier",
    "-Wreserved-macro-identifier",
    "-Wthread-safety",
    "-mavx2",
    "-mavx512f",
    "-mavx512vpopcntdq",
]

# The checks are those of clang-tidy 14 (Debian 12). Later ones report other things: with them it is the locks alone.
_COMMAND = """
log=$1 config=--config-file=.clang-tidy
shift
command -v clang-tidy >/dev/null || { echo 'clang-tidy is not installed: ./dev setup verify' >&2; exit 1; }
clang-tidy --version | grep -q 'version 14\\.' ||
  config="--config={Checks: '-*,clang-diagnostic-thread-safety*', WarningsAsErrors: '*', HeaderFilterRegex: '.*'}"
clang-tidy --quiet "$config" "$@" >"$log" 2>"$log.err" || [ -s "$log" ] || { cat "$log.err" >&2; exit 1; }
rm -f "$log.err"
sed -i "s|$PWD/\\(\\./\\)\\?||g" "$log"
"""

# The headers of a unit cost seconds, each source in it some tenths more. Whoever edits one source waits for its whole unit.
_UNIT_SOURCES = 32

def cut_into_units(sources):
    """Lists of sources that are compiled together, all about as long."""
    if not sources:
        return []
    count = (len(sources) + _UNIT_SOURCES - 1) // _UNIT_SOURCES
    size = (len(sources) + count - 1) // count
    return [sources[first:first + size] for first in range(0, len(sources), size)]

def _units(ctx):
    """Files that include the sources, so that findings name these."""
    sources = [source for source in ctx.files.srcs if source.extension == "cc"]
    units = []
    for included in cut_into_units(sources) if ctx.attr.together else [[source] for source in sources]:
        units.append(ctx.actions.declare_file("%s_%d.cc" % (ctx.label.name, len(units) + 1)))
        ctx.actions.write(units[-1], "".join(['#include "%s"\n' % source.short_path for source in included]))
    return units

def _analysis_test_impl(ctx):
    info = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps if CcInfo in dep])
    context = info.compilation_context
    findings = ctx.actions.declare_file(ctx.label.name + ".txt")
    arguments = ctx.actions.args()
    arguments.add(findings)
    units = _units(ctx)
    arguments.add_all(units)
    arguments.add("--")
    arguments.add_all(_FLAGS)
    arguments.add_all(context.defines, format_each = "-D%s")
    arguments.add_all(context.quote_includes, before_each = "-iquote")
    arguments.add_all(context.includes, before_each = "-I")
    arguments.add_all(context.system_includes, before_each = "-isystem")
    ctx.actions.run_shell(
        outputs = [findings],
        inputs = depset(units + ctx.files.srcs + [ctx.file._checks], transitive = [context.headers]),
        arguments = [arguments],
        command = _COMMAND,
        mnemonic = "Analyse",
        progress_message = "Analysing %s" % ctx.attr.of,
        use_default_shell_env = True,
    )
    show = 'cat "%s" && [ ! -s "%s" ]' % (findings.short_path, findings.short_path)
    ctx.actions.write(ctx.outputs.executable, show, is_executable = True)
    return DefaultInfo(runfiles = ctx.runfiles([findings]))

_analysis_test = rule(
    implementation = _analysis_test_impl,
    test = True,
    attrs = {
        "srcs": attr.label_list(allow_files = True),
        "deps": attr.label_list(allow_files = True),
        "of": attr.string(),
        "together": attr.bool(),
        "_checks": attr.label(default = "//:.clang-tidy", allow_single_file = True),
    },
)

def analysis_test(name, srcs, deps, testonly, together):
    """A test that nothing is found in `srcs`.

    Args:
      name: what is analysed.
      srcs: its sources.
      deps: what has the headers.
      testonly: then nothing is analysed.
      together: the sources are compiled in units, and analysed so.
    """
    if srcs and not testonly and native.package_name().split("/")[0] in _PROGRAMS:
        _analysis_test(
            name = name + "_analysis_test",
            size = "small",
            srcs = srcs,
            deps = deps,
            of = "//%s:%s" % (native.package_name(), name),
            together = together,
            # Not part of //FOLDER:all: clang-tidy may not be installed.
            tags = ["analysis", "manual"],
            visibility = ["//visibility:private"],
        )
