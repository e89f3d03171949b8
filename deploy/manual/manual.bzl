"""Manual page and completions of one program."""

def manual(name, generator, section):
    """Makes NAME.SECTION, NAME.bash, _NAME (zsh) and NAME.fish, and a filegroup NAME of all.

    Args:
      name: the program's name.
      generator: the program that prints them; see proto/base/man_page.h.
      section: of the manual, 1 or 8.
    """
    outputs = {
        "man": "%s.%d" % (name, section),
        "bash": name + ".bash",
        "zsh": "_" + name,
        "fish": name + ".fish",
    }
    for kind, output in outputs.items():
        native.genrule(
            name = "%s_%s" % (name, kind),
            # Not in `tools`, for which everything would be compiled a second time.
            srcs = [generator],
            outs = [output],
            cmd = "$(location %s) %s > $@" % (generator, kind),
            message = "Generating manual and completions of " + name,
        )
    native.filegroup(
        name = name,
        srcs = outputs.values(),
    )
