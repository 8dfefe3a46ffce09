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

// The timeline and its tools are near that bound. Properties of their own objects that are named often are shorter in what
// is shipped, and the same in both scripts. None of these may be in the DOM, a trait, a dataset or a message of the kernel,
// and none may be looked up by a string: the tests in a browser would find it missing.
const SHORTER = ["widget", "tools"];
const SHORTENED = [
  "axis", "betweenStreams", "betweenThreads", "chunk", "chunks", "closeDetails", "colour", "crowded", "details",
  "dotted", "element", "entering", "filled", "fromLane", "fromRow", "fromTable", "gapped", "goTo", "goToTime",
  "gutter", "half", "holder", "itemAt", "layout", "leastRound", "longest", "moment", "openDetails", "palette",
  "primary", "request", "room", "rounded", "rulerY", "scene", "shell", "shortOf", "snap", "spec", "stripes",
  "takeMark", "thin", "titles", "toLane", "toRow", "toTable", "track", "wide",
];

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

const options = {
  absWorkingDir: here,
  outdir: shipped,
  write: false,
  bundle: true,
  format: "esm",
  platform: "browser",
  target: ["es2022"],
  minify: true,
  charset: "ascii",
  legalComments: "none",
  sourcemap: false,
  metafile: true,
  logLevel: "warning",
};

const entries = readdirSync(join(here, "src")).filter((name) => /\.(ts|css)$/.test(name)).sort();
const shorter = (name) => SHORTER.includes(name.split(".")[0]);

async function built(names, more = {}) {
  const entryPoints = names.map((name) => join("src", name));
  return build({ ...options, ...more, entryPoints }).catch(() => process.exit(1)); // esbuild has said why
}

const results = [
  await built(entries.filter((name) => !shorter(name))),
  await built(entries.filter(shorter), {
    mangleProps: new RegExp(`^(${SHORTENED.join("|")})$`),
    mangleCache: Object.fromEntries(SHORTENED.map((name, i) => [name, `$${i.toString(36)}`])),
  }),
];
const outputFiles = results.flatMap((result) => result.outputFiles);
const outputs = Object.assign({}, ...results.map((result) => result.metafile.outputs));

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

for (const [path, { bytes, imports }] of Object.entries(outputs)) {
  const name = basename(path);
  console.log(`${name}: ${bytes} bytes`);
  if (imports.length > 0) refuse(`${name} imports ${imports[0].path}, and has to be one file.`);
  if (name.endsWith(".js") && bytes > MOST_BYTES) refuse(`${name} has more than ${MOST_BYTES} bytes.`);
}
