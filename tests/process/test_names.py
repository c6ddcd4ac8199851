"""Names of files: blanks, newlines, UTF-8 and not, as long as the system allows."""

import json
import os

import models
import process

NAMES = (
    b"with blank.onnx",
    b" .onnx",
    b"new\nline.onnx",
    b"\xc3\xa4\xe2\x82\xac\xf0\x9f\x99\x82.onnx",
    b"\xff\xfe not utf8 \xc3.onnx",
    b"\x1b[31mred\x1b[0m\x07.onnx",
    b"-.onnx",
    b"--help",
    b"%s%n%d.onnx",
    b"quote\"'`$HOME;&|.onnx",
    b"back\\slash.onnx",
    b"\xe2\x80\xaeleft.onnx",
    b"x" * 250 + b".onnx",
    b"\xc3\xa4" * 125 + b".onnx",
)


class Names(process.Case):
    def setUp(self):
        super().setUp()
        self.home = os.fsencode(self.folder)
        models.save(self.folder / "in.onnx", models.sums(2, 300, 2.5))
        self.model = (self.folder / "in.onnx").read_bytes()

    def clean(self, text):
        """No control characters but newlines at the end of lines, and valid UTF-8."""
        shown = text.decode("utf-8")
        self.assertFalse([c for c in shown if c != "\n" and (c < " " or "\x7f" <= c < "\xa0")], shown)

    def read(self, name):
        with open(os.path.join(self.home, name), "rb") as file:
            return file.read()

    def bytes_in(self, folder):
        return set(os.listdir(os.path.join(self.home, os.fsencode(folder))))

    def test_models(self):
        for name in NAMES:
            with self.subTest(name):
                copy = b"copy of " + name[8:]
                self.baryon("copy", "--", "in.onnx", name)
                self.assertEqual(self.read(name), self.model)
                for words in (["inspect"], ["inspect", "--nodes"], ["check"], ["check", "--json"]):
                    done = self.baryon(*words, "--", name)
                    self.clean(done.out)
                done = self.baryon("inspect", "--json", "--", name)
                self.assertEqual(json.loads(done.out)["file_bytes"], len(self.model))
                self.clean(self.baryon("copy", "--json", "--", name, copy).out)
                self.assertEqual(self.read(copy), self.model)
                self.baryon("run", "--random", "1", "--", name)
                os.unlink(os.path.join(self.home, copy))
                os.unlink(os.path.join(self.home, name))
        self.assertEqual(self.files(), ["in.onnx"])

    def test_messages(self):
        """One line each, whatever is in the name, and all of it is the name's."""
        for name in NAMES:
            with self.subTest(name):
                for words in (["inspect"], ["check"], ["run", "--random", "1"]):
                    done = self.baryon(*words, "--", name, status=3)
                    self.clean(done.err)
                    self.assert_says(done, "No such file or directory")
                done = self.baryon("inspect", "--json", "--", name, status=3)
                self.assertEqual(json.loads(done.out)["error"]["exit"], 3)
                self.clean(done.out)
                with open(os.path.join(self.home, name), "wb") as file:
                    file.write(b"\x08\x08\x3a\xff")
                self.clean(self.baryon("check", "--", name, status=3).err)
                self.clean(self.baryon("copy", "--", "in.onnx", name, status=2).err)

    def test_data_files_and_folders(self):
        """A location in a model is UTF-8 without backslashes; folders may be called anything."""
        for name in NAMES:
            with self.subTest(name):
                folder = os.path.join(self.home, b"f" + name[:200])
                os.mkdir(folder)
                out = os.path.join(folder, b"out.onnx")
                words = ["copy", "in.onnx", out, "--external-min", "1", "--external"]
                allowed = b"\\" not in name and b"\xff" not in name
                done = self.baryon(*words, name, status=0 if allowed else 2)
                self.clean(done.err)
                if not allowed:
                    self.assertEqual(os.listdir(folder), [])
                    continue
                self.assertEqual(set(os.listdir(folder)), {b"out.onnx", name})
                self.clean(self.baryon("inspect", out).out)
                self.baryon("copy", out, "back.onnx", "--force", "--inline")
                self.baryon("copy", out, "along.onnx", "--force")
                self.assertEqual(self.read(name), self.read(os.path.join(folder, name)))

    def test_samples(self):
        """Each sample's result is called after it, in letters that are safe anywhere."""
        data = os.path.join(self.home, b"data")
        os.mkdir(data)
        payload = models.floats(300, 1.0)
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 300), }"
        header += b" " * (117 - len(header)) + b"\n"
        for name in NAMES:
            with open(os.path.join(data, name[:240] + b".npy"), "wb") as file:
                file.write(b"\x93NUMPY\x01\x00" + bytes([len(header), 0]) + header + payload)
        done = self.baryon("run", "in.onnx", "--data", "data", "--out", "out")
        self.clean(done.out)
        made = self.bytes_in("out")
        self.assertEqual(len(made), len(NAMES))
        for name in made:
            self.assertRegex(name, rb"^[A-Za-z0-9_][A-Za-z0-9._-]*\.npy$")

    def test_names_that_are_too_long(self):
        for name in ("x" * 256, "x" * 5000, "d/" * 3000 + "x", "x" * 100_000):
            with self.subTest(size=len(name)):
                self.assert_says(self.baryon("inspect", name, status=3), "File name too long")
                self.assert_says(self.baryon("copy", "in.onnx", name, status=5), "File name too long")
                done = self.baryon("copy", "in.onnx", "o.onnx", "--external", name, status=None)
                self.assertIn(done.status, (2, 5))
                self.clean(done.err)
                words = ("run", "in.onnx", "--random", "1", "--out", name)
                self.assert_says(self.baryon(*words, status=5), "File name too long")
        self.assertEqual(self.files(), ["in.onnx"])

    def test_deep_folders(self):
        """Paths up to the longest that the system takes, and a working folder beyond it."""
        deep = self.folder
        while len(str(deep)) < 4096 - 30 - 200:
            deep = deep / ("d" * 199)
        deep = deep / ("e" * (4096 - 30 - len(str(deep))))
        deep.mkdir(parents=True)
        self.baryon("copy", "in.onnx", deep / "out.onnx")
        self.assertEqual((deep / "out.onnx").read_bytes(), self.model)
        self.baryon("copy", "in.onnx", deep / "e.onnx", "--external", "w.bin", "--external-min=1")
        self.baryon("inspect", deep / "e.onnx")
        self.baryon("copy", deep / "e.onnx", "e.onnx")
        self.baryon("run", deep / "e.onnx", "--random", "1")
        self.assertEqual((deep / "w.bin").read_bytes(), self.read(b"w.bin"))
        where = os.open(deep, os.O_RDONLY)
        self.addCleanup(os.close, where)
        for _ in range(20):
            os.mkdir("f" * 250, dir_fd=where)
            here = os.open("f" * 250, os.O_RDONLY, dir_fd=where)
            os.close(where)
            where = here
        options = {"preexec_fn": lambda: os.fchdir(where)}
        whole = self.folder / "in.onnx"
        self.baryon("copy", whole, "out.onnx", **options)
        # ONNX Runtime itself cannot open data files there.
        self.baryon("copy", whole, "e.onnx", "--external", "w.bin", "--external-min=1", "--no-verify", **options)
        self.baryon("run", "e.onnx", "--random", "1", "--out", "out", **options)
        self.assertEqual(set(os.listdir(where)), {"out.onnx", "e.onnx", "w.bin", "out"})


if __name__ == "__main__":
    process.main()
