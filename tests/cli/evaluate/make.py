"""Makes two folders of results with arrays and pictures."""

import numpy as np
from PIL import Image

import evaluate_made

evaluate_made.folders()
picture = np.add.outer(np.arange(20), np.arange(30)).astype(np.uint8) * 4
for folder, step in (("one", 0), ("two", 8)):
    rgb = np.stack([picture, picture[::-1], picture + step], -1).astype(np.uint8)
    Image.fromarray(rgb).save(f"{folder}/picture.png")
np.save("two/extra.npy", np.zeros(3))
open("one/notes.txt", "w").close()
