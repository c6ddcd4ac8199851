"""python -m baryon.onnx.tools.evaluate"""

from . import main

raise SystemExit(main())
