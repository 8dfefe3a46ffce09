// Each script and style sheet that lies in src itself, as one file: the timeline is widget.js, other views have their
// own. The same sources give the same bytes on every machine.
//   node build.mjs             into ../static, where the package takes them from
//   node build.mjs FOLDER      into FOLDER
//   node build.mjs --compare   nowhere: says whether ../static holds what the sources build
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const MOST_BYTES = 100_000; // a script travels with every view, and is saved with it

// Properties of our own objects that are named often: shorter in what is shipped. None of them may be in the DOM, in a
// message of the kernel, a trait or a dataset, and none may be looked up by a string.
const SHORTENED = [
  "axis", "betweenStreams", "betweenThreads", "chunk", "chunks", "closeDetails", "colour", "crowded", "details",
  "dotted", "element", "entering", "filled", "fromLane", "fromRow", "fromTable", "gapped", "goTo", "goToTime",
  "gutter", "half", "holder", "itemAt", "layout", "leastRound", "longest", "moment", "openDetails", "palette",
  "primary", "request", "room", "rounded", "rulerY", "scene", "shell", "shortOf", "snap", "spec", "stripes",
  "takeMark", "thin", "titles", "toLane", "toRow", "toTable", "track", "wide",
];

// The same short name in every script: the tools come later and use the timeline's own objects.
const SHORT = Object.fromEntries(SHORTENED.map((name, i) => [name, `$${i.toString(36)}`]));

const here = dirname(fileURLToPath(import.meta.url));
const shipped = join(here, "../static");
const [argument] = process.argv.slice(2);

function refuse(sentence) {
  console.error(sentence);
  process.exit(1);
}

function shippedBytes(name) {
  try {
    return readFileSync(join(shipped, name));
  } catch {
    return Buffer.alloc(0); // not there: no build is empty, so it will differ
  }
}

const { outputFiles, metafile } = await build({
  absWorkingDir: here,
  entryPoints: readdirSync(join(here, "src")).filter((name) => /\.(ts|css)$/.test(name)).sort().map((name) => join("src", name)),
  outdir: shipped,
  write: false,
  bundle: true,
  format: "esm",
  platform: "browser",
  target: ["es2022"],
  minify: true,
  mangleProps: new RegExp(`^(${SHORTENED.join("|")})$`),
  mangleCache: SHORT,
  // The same in every script: the tools work on the timeline's objects.
  mangleCache: Object.fromEntries(SHORTENED.map((name, i) => [name, `$${i.toString(36)}`])),
  charset: "ascii",
  legalComments: "none",
  sourcemap: false,
  metafile: true,
  logLevel: "warning",
}).catch(() => process.exit(1)); // esbuild has said why

for (const { path, contents } of outputFiles) {
  const name = basename(path);
  if (argument !== "--compare") {
    const folder = argument ? resolve(argument) : shipped;
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), contents);
  } else if (!shippedBytes(name).equals(contents)) {
    refuse(`static/${name} is not what frontend/src builds: run make widget and commit it.`);
  }
}

for (const [path, { bytes, imports }] of Object.entries(metafile.outputs)) {
  const name = basename(path);
  console.log(`${name}: ${bytes} bytes`);
  if (imports.length > 0) refuse(`${name} imports ${imports[0].path}, and has to be one file.`);
  if (name.endsWith(".js") && bytes > MOST_BYTES) refuse(`${name} has more than ${MOST_BYTES} bytes.`);
}
