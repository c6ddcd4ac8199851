"""A disk that is full or cannot be written, and targets that are no files.

A full disk is a small one in memory, mounted in a mount namespace of the test's own:
that takes root, or a system that lets everybody have namespaces. The program starts
itself again inside one; where that is not allowed these tests are skipped.
"""

import os
import resource
import shutil
import signal
import subprocess
import sys
import unittest

import models
import process

INSIDE = "INSIDE_A_NAMESPACE"
DISK = 8 << 20
NAMESPACES = (["unshare", "--mount", "--map-root-user"], ["unshare", "--mount"])


def enter_namespace():
    """Goes on as the same program in a mount namespace, if there can be one."""
    for command in NAMESPACES:
        probe = [*command, "mount", "-t", "tmpfs", "none", "/mnt"]
        try:
            if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
                os.environ[INSIDE] = "1"
                os.execvp(command[0], [*command, sys.executable, *sys.argv])
        except FileNotFoundError:
            return


def mounts(test):
    allowed = os.environ.get(INSIDE) == "1"
    return unittest.skipUnless(allowed, "a disk cannot be mounted here: neither root nor namespaces")(test)


class Writing(process.Case):
    """12 MB of weights, and disks that hold 8 MiB."""

    def setUp(self):
        super().setUp()
        models.save(self.folder / "in.onnx", models.sums(3, 1 << 20, 2.0))
        models.save(self.folder / "small.onnx", models.sums(1, 1 << 10, 3.0))
        models.save(self.folder / "run.onnx", models.sums(1, 1 << 18, 3.0))
        self.size = (self.folder / "in.onnx").stat().st_size



class Disk(Writing):
    def mount(self, options=f"size={DISK}"):
        disk = self.folder / "disk"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", disk], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", disk], check=False)
        return disk

    @staticmethod
    def remount(disk, option):
        """Without the owner that the system tells of it, who has no number in a namespace of users."""
        words = ["mount", "--options-source=disable", "-o", f"remount,{option}", "none", disk]
        subprocess.run(words, check=True)

    @mounts
    def test_full_disk_says_how_much_is_needed(self):
        self.mount()
        done = self.baryon("copy", "in.onnx", "disk/out.onnx", status=5)
        self.assert_says(done, "disk/out.onnx", f"({self.size} bytes needed)", "No space left")
        self.assertEqual(self.files(self.folder / "disk"), [])

    @mounts
    def test_full_disk_leaves_the_old_output(self):
        disk = self.mount()
        old = (self.folder / "small.onnx").read_bytes()
        (disk / "out.onnx").write_bytes(old)
        self.baryon("copy", "in.onnx", "disk/out.onnx", "--force", status=5)
        self.assertEqual((disk / "out.onnx").read_bytes(), old)
        self.assertEqual(self.files(disk), ["out.onnx"])

    @mounts
    def test_full_disk_with_a_data_file(self):
        disk = self.mount()
        words = ("copy", "in.onnx", "disk/out.onnx", "--external", "w.bin")
        done = self.baryon(*words, status=5)
        self.assert_says(done, "disk/w.bin", f"({12 << 20} bytes needed)", "No space left")
        self.assertEqual(self.files(disk), [])
        self.baryon("copy", "small.onnx", "disk/out.onnx", "--external", "w.bin")
        before = {name: (disk / name).read_bytes() for name in self.files(disk)}
        self.baryon(*words, "--force", status=5)
        self.assertEqual({name: (disk / name).read_bytes() for name in self.files(disk)}, before)

    @mounts
    def test_full_disk_with_data_files_that_go_along(self):
        disk = self.mount()
        self.baryon("copy", "in.onnx", "beside.onnx", "--external", "w.bin")
        self.baryon("copy", "beside.onnx", "disk/out.onnx", status=5)
        self.assertEqual(self.files(disk), [])

    def found_early(self, text, *words):
        """With -v the program tells of samples as soon as it has some."""
        done = self.baryon(*words, "--random", "2", "-v", status=5)
        said = done.err.decode(errors="replace")
        self.assertIn(text, said.splitlines()[-1])
        self.assertNotIn("side by side", said)

    @mounts
    def test_full_disk_is_found_before_samples_run(self):
        weights = [models.tensor("w", [2048, 2048], bytes(4 << 22))]
        nodes = [models.node("MatMul", ["x", "w"], ["y"])]
        ports = [models.port("x", [1, 2048])], [models.port("y", [1, 2048])]
        models.save(self.folder / "layer.onnx", models.model(nodes, weights, *ports))
        disk = self.mount("size=64k")
        words = ("quantize", "layer.onnx", "-o", "disk/q.onnx", "--preset", "A8W8")
        self.found_early("the quantized model requires about 4.0 MiB,", *words)
        (disk / "filled").write_bytes(bytes(64 << 10))
        full = "No space left"
        small = ("quantize", "layer.onnx", "--preset", "A8W8", "-o")
        self.found_early(full, *small, "disk/q.onnx")
        self.found_early(full, *small, "q.onnx", "--report", "disk/r.json")
        self.found_early(full, *small, "q.onnx", "--external", "disk/w.bin")
        self.found_early(full, "calibrate", "layer.onnx", "-o", "disk/layer.stats")
        self.assertEqual(self.files(disk), ["filled"])

    @mounts
    def test_disk_that_becomes_full_while_samples_run(self):
        disk = self.mount()
        words = ("run", "run.onnx", "--random", "20", "--out", "disk/out", "-q")
        done = self.baryon(*words, status=5)
        self.assert_says(done, ".npy", f"({(1 << 20) + 128} bytes needed)", "No space left")
        there = list((disk / "out").iterdir())
        self.assertTrue(5 <= len(there) <= 8, there)
        for path in there:
            self.assertEqual((path.suffix, path.stat().st_size), (".npy", (1 << 20) + 128))

    @mounts
    def test_disk_becomes_full_while_a_search_keeps_steps(self):
        """At one step after the other, and at the results; the same command goes on when there is room."""
        weights = [0.1 * (7 * k % 11 - 5) for k in range(32 * 32)]
        models.save(self.folder / "layers.onnx", models.layers(3, 32, lambda _: weights, lambda _: [0.0] * 32))
        words = ("auto", "layers.onnx", "--random", "12", "--goal", "sqnr>=140", "--effort", "quick", "-q")
        self.baryon(*words, "-o", "whole.onnx", status=7)
        disk, went_on = self.mount("size=128k"), 0
        for kilobytes in (8, 12, 16, 24, 32, 36):
            self.remount(disk, "size=128k")
            (disk / "filled").write_bytes(bytes(128 - kilobytes << 10))
            done = self.baryon(*words, "-o", "disk/q.onnx", status=5)
            self.assertTrue(b"are free on its disk" in done.err or b"No space left" in done.err, done.err)
            self.assertEqual([name for name in self.files(disk) if not name.endswith(".part")], ["filled"])
            self.remount(disk, f"size={DISK}")
            went_on += b"taken up" in self.baryon(*words[:-1], "-o", "disk/q.onnx", status=7).err
            self.assertEqual(self.files(disk), ["filled", "q.onnx", "q.yaml"])
            for name in ("onnx", "yaml"):
                self.assertEqual((disk / f"q.{name}").read_bytes(), (self.folder / f"whole.{name}").read_bytes())
                (disk / f"q.{name}").unlink()
        self.assertGreaterEqual(went_on, 4)

    @mounts
    def test_disk_that_becomes_full_while_calibrating(self):
        """Half a megabyte for sketches and checkpoints of two; it goes on when there is room."""
        models.save(self.folder / "many.onnx", models.chain(100))
        words = ("calibrate", "many.onnx", "--random", "20", "--shape", "N=500", "-q")
        every = ("--checkpoint-seconds", "0")
        self.baryon(*words, "-o", "whole.stats")
        whole = (self.folder / "whole.stats").read_bytes()
        disk = self.mount(f"size={len(whole) * 3 // 2}")
        done = self.baryon(*words, *every, "-o", "disk/out.stats", status=5)
        self.assert_says(done, "disk/out.stats", "No space left",
                         "the previous checkpoint is intact: run the same command to resume")
        self.assertEqual(self.files(disk), ["out.stats.part"])
        self.remount(disk, f"size={DISK}")
        self.baryon(*words, "-o", "disk/out.stats")
        self.assertEqual(self.files(disk), ["out.stats"])
        self.assertEqual((disk / "out.stats").read_bytes(), whole)

    @mounts
    def test_disk_that_is_full_before_calibrating(self):
        disk = self.mount("size=1m,nr_inodes=1")
        done = self.baryon("calibrate", "small.onnx", "--random", "1000000000", "-o",
                           "disk/out.stats", status=5)  # fmt: skip
        self.assert_says(done, "disk/out.stats", "No space left")
        self.assertEqual(self.files(disk), [])

    @mounts
    def test_no_names_left(self):
        self.mount("size=1m,nr_inodes=3")
        self.baryon("copy", "small.onnx", "disk/a.onnx")
        self.baryon("copy", "small.onnx", "disk/b.onnx")
        done = self.baryon("copy", "small.onnx", "disk/c.onnx", status=5)
        self.assert_says(done, "disk/c.onnx", "No space left")
        self.assertEqual(self.files(self.folder / "disk"), ["a.onnx", "b.onnx"])

    @mounts
    def test_disk_for_reading_only(self):
        disk = self.mount()
        self.baryon("copy", "small.onnx", "disk/old.onnx")
        self.remount(disk, "ro")
        for name, more in (("new.onnx", []), ("old.onnx", ["--force"])):
            done = self.baryon("copy", "in.onnx", f"disk/{name}", *more, status=5)
            self.assert_says(done, f"disk/{name}", "Read-only file system")
        done = self.baryon("run", "run.onnx", "--random", "1", "--out", "disk/out", status=5)
        self.assert_says(done, "disk/out", "Read-only file system")
        self.assertEqual(self.files(disk), ["old.onnx"])

    @unittest.skipUnless(shutil.which("setpriv"), "no setpriv to take root's power away")
    def test_folder_without_permission(self):
        bound = {"prefix": ("setpriv", "--bounding-set=-dac_override,-dac_read_search")}
        if os.geteuid() != 0:
            bound = {}
        folder = self.folder / "closed"
        folder.mkdir()
        self.baryon("copy", "small.onnx", "closed/old.onnx")
        folder.chmod(0o555)
        self.addCleanup(folder.chmod, 0o755)
        for name, more in (("new.onnx", []), ("old.onnx", ["--force"])):
            words = ("copy", "in.onnx", f"closed/{name}", *more)
            done = self.baryon(*words, status=5, **bound)
            self.assert_says(done, f"closed/{name}", "Permission denied")
        words = ("calibrate", "small.onnx", "--random", "1000000000", "-o", "closed/out.stats")
        done = self.baryon(*words, status=5, **bound)
        self.assert_says(done, "closed/out.stats", "Permission denied")
        self.assertEqual(self.files(folder), ["old.onnx"])


class Limit(Writing):
    """RLIMIT_FSIZE: without care, the system ends who writes more."""

    limit = {"preexec_fn": process.limited(resource.RLIMIT_FSIZE, DISK)}

    def test_largest_file(self):
        done = self.baryon("copy", "in.onnx", "out.onnx", status=5, **self.limit)
        self.assert_says(done, "out.onnx", f"({self.size} bytes needed)", "File too large")
        self.assertEqual(self.files(), ["in.onnx", "run.onnx", "small.onnx"])

    def test_largest_file_for_samples(self):
        limit = {"preexec_fn": process.limited(resource.RLIMIT_FSIZE, 1 << 20)}
        words = ("run", "run.onnx", "--random", "1", "--out", "out")
        done = self.baryon(*words, status=5, **limit)
        self.assert_says(done, ".npy", "File too large")
        self.assertEqual(self.files(self.folder / "out"), [])

    def test_largest_file_for_the_result(self):
        """What goes to standard output can be too much as well."""
        models.save(self.folder / "chain.onnx", models.chain(2000))
        words = ("inspect", "chain.onnx", "--nodes")
        limit = {"preexec_fn": process.limited(resource.RLIMIT_FSIZE, 4096)}
        done = self.baryon(*words, status=5, **limit)
        self.assert_says(done, "File too large")
        self.assertLessEqual(len(done.out), 4096)


class Target(process.Case):
    def setUp(self):
        super().setUp()
        models.save(self.folder / "in.onnx", models.sums(1, 1 << 10, 2.0))

    def refuse(self, target, *texts, status=5, more=("--force",)):
        before = self.files()
        done = self.baryon("copy", "in.onnx", target, *more, status=status)
        self.assert_says(done, *texts)
        self.assertEqual(self.files(), before)

    def test_directory(self):
        (self.folder / "out").mkdir()
        self.refuse("out", "out", "is a directory")
        self.refuse("out", "exists", status=2, more=())
        self.refuse("out/", "is not a file name", status=2)

    def test_fifo_and_device(self):
        os.mkfifo(self.folder / "fifo")
        self.refuse("fifo", "is a FIFO")
        self.refuse("/dev/null", "is a character device")

    def test_link_that_leads_nowhere(self):
        (self.folder / "out.onnx").symlink_to("nowhere.onnx")
        self.refuse("out.onnx", "dangling symbolic link")
        self.refuse("out.onnx", "exists", status=2, more=())

    def test_links_in_a_circle(self):
        (self.folder / "a").symlink_to("b")
        (self.folder / "b").symlink_to("a")
        self.refuse("a", "symbolic link")

    def test_link_to_a_file_is_kept(self):
        (self.folder / "other").mkdir()
        (self.folder / "other" / "real.onnx").write_bytes(b"old")
        (self.folder / "out.onnx").symlink_to("other/real.onnx")
        self.baryon("copy", "in.onnx", "out.onnx", "--force")
        self.assertTrue((self.folder / "out.onnx").is_symlink())
        copied = (self.folder / "other" / "real.onnx").read_bytes()
        self.assertEqual(copied, (self.folder / "in.onnx").read_bytes())
        self.assertEqual(self.files(self.folder / "other"), ["real.onnx"])

    def test_folder_that_is_not_there(self):
        self.refuse("nowhere/out.onnx", "nowhere", "No such file or directory")
        self.refuse("in.onnx/out.onnx", "in.onnx", "Not a directory")

    def test_data_file_that_is_a_directory(self):
        (self.folder / "w.bin").mkdir()
        self.refuse("out.onnx", "w.bin", "directory", more=("--force", "--external", "w.bin"))

    def test_run_into_a_file(self):
        words = ("run", "in.onnx", "--random", "1", "--out", "in.onnx")
        self.assert_says(self.baryon(*words, status=5), "in.onnx", "not a folder")


if __name__ == "__main__":
    if not os.environ.get(INSIDE):
        enter_namespace()
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    process.main()
