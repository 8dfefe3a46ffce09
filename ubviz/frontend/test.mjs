// node test.mjs [WORD ...]: every src/**/*.test.ts (whose path holds one of the words), by node's own test runner.
// Node reads no TypeScript: esbuild bundles each test with what it tests into a folder that is removed again.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const words = process.argv.slice(2);
const tests = readdirSync(join(here, "src"), { recursive: true })
  .filter((path) => path.endsWith(".test.ts") && (words.length === 0 || words.some((word) => path.includes(word))))
  .sort();
if (tests.length === 0) {
  console.error("src holds no such test: nothing was tested.");
  process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), "ubviz-tests-"));
try {
  await build({
    absWorkingDir: here,
    entryPoints: tests.map((path) => join("src", path)),
    outdir: folder,
    outbase: "src",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: ["es2022"],
    sourcemap: "inline",
    logLevel: "warning",
  });
  const files = tests.map((path) => join(folder, path.replace(/\.ts$/, ".mjs")));
  const { status } = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...files], { stdio: "inherit" });
  process.exitCode = status ?? 1;
} catch {
  process.exitCode = 1; // esbuild has said why
} finally {
  rmSync(folder, { recursive: true, force: true });
}
