#!/usr/bin/python3
# The package's structure: imports form no circle and stand at the top.
# SPDX-License-Identifier: LGPL-2.1-or-later
import ast
import os
import unittest

import cudatransform

PACKAGE = os.path.dirname(cudatransform.__file__)
# Optional packages, imported at the place of use: torch and cupy by their names.
LAZY = {("corpus/actions", "pyarrow"), ("corpus/actions", "pyarrow.parquet"),
        ("corpus/job", "importlib.import_module"), ("corpus/on_ray", "ray"),
        ("corpus/on_ray", "ray.data"), ("transform", "importlib.import_module")}


def modules():
    """{module, such as corpus/job: its syntax tree}"""
    found = {}
    for folder, _, names in os.walk(PACKAGE):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(".py"):
                with open(path, encoding="utf-8") as file:
                    found[os.path.relpath(path, PACKAGE)[:-3]] = ast.parse(file.read())
    return found


def imports_of(module, tree):
    """All imports in a tree: modules of the package as in modules(), others by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module
        elif isinstance(node, ast.ImportFrom):
            folder = "/".join(module.split("/")[:-node.level])
            for name in [node.module] if node.module else [alias.name for alias in node.names]:
                yield f"{folder}/{name}".strip("/")
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield ast.unparse(node.func)


def circle_in(graph):
    """The modules that import each other, or import those that do; empty where none do."""
    left = {module: set(imports) & set(graph) for module, imports in graph.items()}
    while ends := [module for module, imports in left.items() if not imports]:
        left = {module: imports.difference(ends) for module, imports in left.items()
                if module not in ends}
    return sorted(left)


class Imports(unittest.TestCase):
    def test_there_is_no_circle(self):
        graph = {module: set(imports_of(module, tree)) for module, tree in modules().items()}
        self.assertIn("_native", graph["_decoding"])
        self.assertEqual(circle_in(graph), [])
        self.assertIn("_cuda_memory", circle_in({**graph, "_native": {"reader"}}))

    def test_none_is_inside_of_a_function(self):
        inside = {(module, name) for module, tree in modules().items() for node in ast.walk(tree)
                  if isinstance(node, (ast.FunctionDef, ast.Lambda))
                  for name in imports_of(module, node)}
        self.assertEqual(inside, LAZY)


if __name__ == "__main__":
    unittest.main(verbosity=2)
