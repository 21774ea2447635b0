"""Clean sessions with magics, widgets, threads and displays."""

from __future__ import annotations

from harness import Play, Truth, session


@session("clean")
def timing_and_capture_magics(s: Play) -> Truth:
    """``%%time``, ``%time``, ``%timeit`` and ``%%capture`` around cells that do not accumulate."""
    s.cells(
        "xs = list(range(50))",
        "%%time\ntotal = sum(xs)",
        "%timeit -n 3 -r 1 sorted(xs)",
        "%time top = max(xs)",
        "%%capture out\nprint(total)",
        "print(top, out.stdout)",
    )
    s.run("abcdefbcdef")
    return Truth("cccccc", did="rerun")


@session("clean")
def shell_cells(s: Play) -> Truth:
    """``%%bash``, ``!`` and ``%ls`` look around."""
    s.cells("%%bash\necho hello", "!echo hi", "names = !ls", "n = len(names)", "%pwd")
    s.run("abcdeab")
    return Truth("ccccc", did="rerun")


@session("clean")
def bash_writes_and_python_reads(s: Play) -> Truth:
    """``%%bash`` writes a file and a cell reads it, both twice in order."""
    s.cells("%%bash\nprintf 'a\\nb\\n' > names.txt", "names = open('names.txt').read().split()", "len(names)")
    s.run("abcabc")
    return Truth("ccc", did="rerun")


@session("clean")
def module_written_by_the_notebook(s: Play) -> Truth:
    """``%%writefile`` writes a module that the next cell imports."""
    s.cells("%%writefile tools.py\ndef f(x):\n    return x + 1", "import tools", "y = tools.f(1)")
    s.run()
    return Truth("ccc")


@session("clean")
def slider_shown_and_left_alone(s: Play) -> Truth:
    """A slider is shown, nobody moves it, and its value is read."""
    s.cells(
        "import ipywidgets as w\nslider = w.IntSlider(value=3, description='d')\nslider",
        "depth = slider.value",
        "print(depth)",
    )
    s.run()
    return Truth("ccc")


@session("clean")
def interactive_plot_left_alone(s: Play) -> Truth:
    """``interact`` calls its function once by itself."""
    s.cells(
        "from ipywidgets import interact\nimport math",
        "def show(k=2):\n    print(math.sqrt(k))",
        "interact(show, k=(1, 9));",
        "x = 4",
    )
    s.run()
    return Truth("cccc")


@session("clean")
def threads_that_end_in_their_cell(s: Play) -> Truth:
    """A pool of threads maps a function and is closed in the same cell."""
    s.cells(
        "from concurrent.futures import ThreadPoolExecutor",
        "def work(i):\n    return i * i",
        "with ThreadPoolExecutor(2) as pool:\n    out = list(pool.map(work, range(5)))",
        "total = sum(out)",
    )
    s.run("abcdcd")
    return Truth("cccc", did="rerun")


@session("clean")
def rich_displays(s: Play) -> Truth:
    """HTML, Markdown, progress text and a trailing semicolon."""
    s.cells(
        "from IPython.display import HTML, Markdown, clear_output, display",
        "display(HTML('<b>x</b>'), Markdown('*y*'))",
        "for i in range(3):\n    clear_output(wait=True)\n    print(i)",
        "x = 3;\nx;",
    )
    s.run("abcdbcd")
    return Truth("cccc", did="rerun")


@session("clean")
def autoreload_of_an_unchanged_module(s: Play) -> Truth:
    """autoreload is on and nothing changes."""
    s.write("helpers.py", "def twice(x):\n    return 2 * x\n")
    s.cells("%load_ext autoreload\n%autoreload 2", "import helpers", "y = helpers.twice(2)", "print(y)")
    s.run("abcdcd")
    return Truth("cccc", did="rerun")


@session("clean")
def module_saved_without_a_change(s: Play) -> Truth:
    """The editor saves a module with the same text: its time changes, its source does not."""
    text = "def twice(x):\n    return 2 * x\n"
    s.write("helpers.py", text)
    s.cells("import helpers", "y = helpers.twice(2)", "print(y)")
    s.run("ab")
    s.write("helpers.py", text)
    s.run("c")
    return Truth("ccc")


@session("clean")
def packages_listed_but_not_installed(s: Play) -> Truth:
    """``%pip --version`` and ``!pip help`` are no installs."""
    s.cells("%pip --version", "!echo pip install nothing", "x = 1")
    s.run()
    return Truth("ccc")


@session("clean")
def profiler_and_help(s: Play) -> Truth:
    """``%prun``, ``?`` and ``%who`` look at things."""
    s.cells("def f(n):\n    return sum(range(n))", "%prun -q f(10)", "f?", "%who", "y = f(3)")
    s.run("abcdebcde")
    return Truth("ccccc", did="rerun")


@session("clean")
def folder_entered_in_the_first_cell(s: Play) -> Truth:
    """The notebook enters its data folder at the top, as the job will."""
    s.write("data/x.txt", "7")
    s.cells("%cd -q data", "x = int(open('x.txt').read())", "print(x)")
    s.run()
    return Truth("ccc", either="a", may="cwd_change")


@session("clean")
def temporary_files(s: Play) -> Truth:
    """Temporary folders and files come and go."""
    s.cells(
        "import os, tempfile",
        "with tempfile.TemporaryDirectory() as d:\n    p = os.path.join(d, 'a.txt')\n    open(p, 'w').write('1')\n    got = open(p).read()",
        "print(got)",
    )
    s.run("abcbc")
    return Truth("ccc", did="rerun")


@session("clean")
def logger_set_up_again(s: Play) -> Truth:
    """A logger is named and its level is set, twice."""
    s.cells(
        "import logging\nlog = logging.getLogger('bench')",
        "log.setLevel(logging.INFO)",
        "log.info('start')\nx = 1",
        "log.info('x is %s', x)",
    )
    s.run("abbcdcd")
    return Truth("cccc", did="rerun")


@session("clean")
def warnings_and_options(s: Play) -> Truth:
    """Options of libraries are set at the top, and once more."""
    s.cells(
        "import warnings\nimport numpy as np\nimport pandas as pd",
        "np.set_printoptions(precision=3)\npd.set_option('display.max_rows', 10)",
        "x = np.arange(3) / 7\nprint(x)",
    )
    s.run("abcbc")
    return Truth("ccc", did="rerun")
