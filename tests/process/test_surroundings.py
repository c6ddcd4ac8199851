"""What surrounds the program: locale, streams, environment, umask, the folder it is in."""

import contextlib
import json
import os
import pty
import shutil
import signal
import stat
import subprocess
import tempfile

import models
import process

# Decimal commas, other letters than i and I, other digits, no UTF-8.
LOCALES = (("de_DE", "UTF-8"), ("tr_TR", "UTF-8"), ("fa_IR", "UTF-8"), ("de_DE", "ISO-8859-15"))
USED = LOCALES if process.LONG else LOCALES[:1]  # compiling one takes two seconds


class Around(process.Case):
    def setUp(self):
        super().setUp()
        models.save(self.folder / "in.onnx", models.sums(2, 300, 2.5))
        models.save(self.folder / "long.onnx", models.chain(5000))
        self.plain = None

    def commands(self):
        """Words whose output is the same every time."""
        return (
            ["inspect", "in.onnx"],
            ["inspect", "in.onnx", "--json", "--nodes"],
            ["inspect", "long.onnx", "--nodes"],
            ["check", "in.onnx"],
            ["copy", "in.onnx", "out.onnx", "--force"],
            ["list", "rules"],
            ["help", "run"],
        )

    def same_everywhere(self, **environment):
        plain = process.environment()
        self.plain = self.plain or [self.baryon(*words, env=plain).out for words in self.commands()]
        for words, out in zip(self.commands(), self.plain):
            with self.subTest(words, **environment):
                done = self.baryon(*words, env=process.environment(**environment))
                self.assertEqual((done.out, done.err), (out, b""))


class Environment(Around):
    def test_variables_that_are_not_there(self):
        for name in ("TERM", "HOME", "TMPDIR", "PATH", "USER", "LANG", "LC_ALL", "PWD"):
            self.same_everywhere(**{name: None})

    def test_no_variables_at_all(self):
        for words in self.commands():
            self.assertEqual(
                self.baryon(*words, env={}).out, self.baryon(*words, env={"LC_ALL": "C"}).out
            )
        self.baryon("run", "in.onnx", "--random", "1", env={})

    def test_the_engine_reports_to_nobody(self):
        """ONNX Runtime from 1.29 on numbers the machine in the user's cache, and sends that."""
        home = self.folder / "home"
        home.mkdir()
        plain = {"HOME": str(home), "XDG_CACHE_HOME": None, "ORT_DISABLE_TELEMETRY": None}
        self.baryon("run", "in.onnx", "--random", "1", env=process.environment(**plain))
        self.assertEqual(list(home.rglob("*")), [])

    def test_variables_with_nonsense(self):
        self.same_everywhere(TERM="\033[31m" * 100, HOME="/nowhere", TMPDIR="/nowhere/at/all")
        self.same_everywhere(TERM="", HOME="", COLUMNS="-1", LC_ALL="no_SUCH.locale", TZ="Mars/Base")
        self.same_everywhere(OMP_NUM_THREADS="many", MALLOC_ARENA_MAX="-3")


class Locales(Around):
    @classmethod
    def setUpClass(cls):
        """Compiles the locales into a folder, where that is possible."""
        cls.locales = {}
        cls.compiled = tempfile.mkdtemp(prefix="locales-")
        cls.addClassCleanup(shutil.rmtree, cls.compiled)
        if not shutil.which("localedef"):
            return
        for language, charset in USED:
            name = f"{language}.{charset}"
            words = ["localedef", "-i", language, "-f", charset, f"{cls.compiled}/{name}"]
            if subprocess.run(words, capture_output=True, check=False).returncode == 0:
                cls.locales[name] = {"LOCPATH": cls.compiled, "LC_ALL": name}

    def setUp(self):
        super().setUp()
        if not self.locales:
            self.skipTest("no locales can be compiled: Debian has localedef and the package locales")

    def printf(self, environment):
        words = ["bash", "-c", "printf %.1f 1,5 2>&-"]
        done = subprocess.run(words, env=environment, capture_output=True, check=False)
        return done.stdout

    def test_output_is_the_same(self):
        german = process.environment(**self.locales["de_DE.UTF-8"])
        self.assertEqual(self.printf(german), b"1,5", "the locale itself works")
        for variables in self.locales.values():
            utf8 = "UTF-8" in variables["LC_ALL"]
            for words in self.commands():
                one = self.baryon(*words, env=process.environment(LC_ALL="C.UTF-8" if utf8 else "C"))
                two = self.baryon(*words, env=process.environment(**variables))
                self.assertEqual(one.out, two.out, variables)

    def test_numbers_have_points(self):
        words = ("run", "in.onnx", "--random", "3", "--json", "--out")
        for name, variables in self.locales.items():
            for out, environment in ((f"{name}-c", {}), (name, variables)):
                done = self.baryon(*words, out, env=process.environment(**environment))
                json.loads(done.out)
            for file in self.files(self.folder / name):
                pair = [(self.folder / out / file).read_bytes() for out in (f"{name}-c", name)]
                self.assertEqual(*pair)
        odd = {"env": process.environment(**self.locales["de_DE.UTF-8"]), "status": 2}
        self.baryon("run", "in.onnx", "--random", "1", "--scale", "0,5", **odd)


class Streams(Around):
    def closed(self, *numbers):
        def close():
            for number in numbers:
                os.close(number)

        return {"preexec_fn": close}

    def test_any_of_them_closed(self):
        """What is opened meanwhile must not become standard output, and be written to."""
        before = (self.folder / "in.onnx").read_bytes()
        for numbers in ((0,), (2,), (0, 2)):
            for words in self.commands():
                with open(self.folder / "text", "wb") as text, self.subTest(words, closed=numbers):
                    options = {**self.closed(*numbers), "stdout": text}
                    self.baryon(*words, **options)
                    whole = self.baryon(*words).out
                    self.assertEqual((self.folder / "text").read_bytes(), whole)
        for numbers in ((1,), (0, 1), (1, 2), (0, 1, 2)):
            for words in self.commands():
                with self.subTest(words, closed=numbers):
                    self.baryon(*words, status=5, **self.closed(*numbers))
            self.assertEqual((self.folder / "out.onnx").read_bytes(), before)
        self.assertEqual((self.folder / "in.onnx").read_bytes(), before)

    def test_nobody_reads_standard_output(self):
        for words in (["inspect", "long.onnx", "--nodes"], ["list", "rules"], ["help"]):
            with self.subTest(words):
                running = process.start(*words, cwd=self.folder)
                running.stdout.close()
                err = running.stderr.read()
                running.stderr.close()
                # What fits into a pipe may have been written before it was closed.
                allowed = [-signal.SIGPIPE] if "--nodes" in words else [-signal.SIGPIPE, 0]
                self.assertIn(running.wait(), allowed)
                self.assertEqual(err, b"")

    def test_head(self):
        script = '"$0" inspect long.onnx --nodes | head -1; exit "${PIPESTATUS[0]}"'
        words = ["bash", "-c", script, process.BARYON]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, check=False)
        self.assertEqual(done.stdout.count(b"\n"), 1)
        self.assertEqual(done.stderr, b"")
        self.assertIn(done.returncode, (0, 128 + signal.SIGPIPE))

    def test_pipe_that_nobody_reads_while_samples_run(self):
        """The results are files; only the report has nowhere to go."""
        reader, writer = os.pipe()
        os.close(reader)
        words = ("run", "in.onnx", "--random", "50", "--out", "out")
        running = process.start(*words, cwd=self.folder, stdout=writer, stderr=writer)
        os.close(writer)
        self.assertEqual(running.wait(), -signal.SIGPIPE)
        self.assertFalse([name for name in self.files(self.folder / "out") if name[0] == "."])

    def test_full_device(self):
        with open("/dev/full", "wb") as full:
            for words in self.commands():
                done = self.baryon(*words, status=5, stdout=full)
                self.assert_says(done, "No space left")

    def test_standard_input_is_a_model_only_when_asked(self):
        for words in self.commands():
            with open("/dev/zero", "rb") as zeros:
                self.baryon(*words, stdin=zeros)
        with open(self.folder / "in.onnx", "rb") as model:
            self.baryon("inspect", "-", stdin=model)

    def test_terminal(self):
        """Colours and a progress bar go to a terminal and nowhere else."""
        try:
            controller, terminal = pty.openpty()
        except OSError as error:  # a container without /dev/pts
            self.skipTest(str(error))
        environment = process.environment(TERM="xterm")
        words = ("run", "in.onnx", "--random", "100000000")
        running = process.start(*words, cwd=self.folder, stderr=terminal, env=environment)
        os.close(terminal)
        shown, asked = b"", False
        with contextlib.suppress(OSError):  # the terminal goes with the program
            while more := os.read(controller, 1 << 12):
                shown += more
                if b"%" in shown and not asked:
                    running.send_signal(signal.SIGINT)
                    asked = True
        out, _ = running.communicate()
        os.close(controller)
        self.assertRegex(shown, rb"\r.*samples.*%|\r.*%.*samples")
        self.assertEqual((running.returncode, out), (130, b""))


class Modes(Around):
    def modes(self, umask, *words):
        """Permissions of the files and folders that a command makes."""
        shutil.rmtree(self.folder / "made", ignore_errors=True)
        self.baryon(*words, umask=umask)
        made = [self.folder / "made", *sorted((self.folder / "made").rglob("*"))]
        return {path.name: stat.S_IMODE(path.stat().st_mode) for path in made}

    def test_umask(self):
        for umask in (0o077, 0o022, 0o002, 0o000):
            files, folders = 0o666 & ~umask, 0o777 & ~umask
            words = ("run", "in.onnx", "--random", "1", "--out", "made")
            wanted = {"made": folders, "random-0.npy": files}
            self.assertEqual(self.modes(umask, *words), wanted)
            words = ("copy", "in.onnx", "made.onnx", "-f", "--external", "made/w.bin", "--external-min=1")
            self.assertEqual(self.modes(umask, *words), {"made": folders, "w.bin": files})
            mode = stat.S_IMODE((self.folder / "made.onnx").stat().st_mode)
            self.assertEqual(mode, files)
            (self.folder / "made.onnx").unlink()

    def test_a_file_that_is_replaced_keeps_its_own(self):
        for mode in (0o600, 0o644, 0o666, 0o444, 0o755):
            for umask in (0o077, 0o000):
                (self.folder / "out.onnx").touch()
                (self.folder / "out.onnx").chmod(mode)
                self.baryon("copy", "in.onnx", "out.onnx", "--force", umask=umask)
                self.assertEqual(stat.S_IMODE((self.folder / "out.onnx").stat().st_mode), mode)

    def test_the_source_gives_nothing_of_its_own(self):
        (self.folder / "in.onnx").chmod(0o400)
        self.baryon("copy", "in.onnx", "out.onnx", umask=0o022)
        self.assertEqual(stat.S_IMODE((self.folder / "out.onnx").stat().st_mode), 0o644)


class Folder(Around):
    def test_working_folder_that_is_gone(self):
        gone = self.folder / "gone"
        gone.mkdir()

        def leave():
            os.chdir(gone)
            os.rmdir(gone)

        whole = str(self.folder / "in.onnx")
        options = {"preexec_fn": leave, "cwd": self.folder}
        for words, status in (
            (["inspect", whole], 0),
            (["check", whole], 0),
            (["copy", whole, str(self.folder / "out.onnx"), "-f"], 0),
            (["copy", whole, str(self.folder / "out.onnx"), "-f", "--external", "w.bin"], 0),
            (["run", whole, "--random", "1"], 0),
            (["inspect", "in.onnx"], 3),
            (["copy", whole, "out.onnx"], 5),
            (["run", whole, "--random", "1", "--out", "out"], 5),
        ):
            gone.mkdir(exist_ok=True)
            done = self.baryon(*words, status=status, **options)
            if status:
                self.assert_says(done, "No such file or directory")

    def test_folder_that_may_be_searched_but_not_listed(self):
        if os.geteuid() == 0 and not shutil.which("setpriv"):
            self.skipTest("no setpriv to take root's power away")
        bound = {"prefix": ("setpriv", "--bounding-set=-dac_override,-dac_read_search")}
        closed = self.folder / "closed"
        closed.mkdir()
        shutil.copy(self.folder / "in.onnx", closed)
        closed.chmod(0o100)
        self.addCleanup(closed.chmod, 0o755)
        options = bound if os.geteuid() == 0 else {}
        self.baryon("inspect", "closed/in.onnx", **options)
        self.baryon("copy", "closed/in.onnx", "out.onnx", **options)


if __name__ == "__main__":
    process.main()
