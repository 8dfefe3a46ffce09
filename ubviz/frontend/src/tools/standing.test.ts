import assert from "node:assert/strict";
import test from "node:test";

import { Link } from "../base/link";
import type { State } from "../timeline/model";
import { Standing, type Stands } from "./standing";

/** A model with one trait, which tells its views at once. */
function modelOf(tool: string) {
  const heard = new Set<() => void>();
  const state = { tool };
  const model = {
    get: () => state.tool,
    set: (_: string, value: string) => {
      if (state.tool === value) return;
      state.tool = value;
      for (const each of [...heard]) each();
    },
    save_changes: () => {},
    send: () => {},
    on: (_: string, changed: () => void) => void heard.add(changed),
    off: (_: string, changed: () => void) => void heard.delete(changed),
  };
  return { state, python: (name: string) => model.set("tool", name), model };
}

class Fake {
  open = false;
  readonly key = "";
  readonly name = "";
  changed = (): void => {};

  constructor(readonly word?: string) {}

  #turn(open: boolean): void {
    this.open = open;
    this.changed();
  }

  use(): void {
    this.#turn(!this.open);
  }

  stand(): void {
    this.#turn(true);
  }

  close(): void {
    this.#turn(false);
  }
}

function viewOf(model: unknown) {
  const standing = new Standing(new Link<State>(model as never, new AbortController().signal));
  const [path, ruler, lit] = [new Fake("path"), new Fake("ruler"), new Fake()];
  const tools = [path, ruler, lit];
  for (const tool of tools) tool.changed = standing.changed;
  path.changed(); // a panel is made before all tools are there
  standing.begin(tools as unknown as Stands[]);
  return { standing, path, ruler, lit, open: () => tools.map((tool) => tool.open) };
}

Object.assign(globalThis, { requestAnimationFrame: () => 1, cancelAnimationFrame: () => {} });

test("the trait opens its tool at the beginning, and another closes the one before", () => {
  const { state, python, model } = modelOf("path");
  const view = viewOf(model);
  assert.deepEqual([view.open(), state.tool], [[true, false, false], "path"]);
  python("ruler");
  assert.deepEqual([view.open(), state.tool], [[false, true, false], "ruler"]);
  python("");
  assert.deepEqual([view.open(), state.tool], [[false, false, false], ""]);
});

test("it is the tool used last of those that are open; one without a name is not told", () => {
  const { state, python, model } = modelOf("");
  const { standing, path, ruler, lit, open } = viewOf(model);
  standing.use(path);
  standing.use(ruler);
  assert.equal(state.tool, "ruler");
  lit.stand();
  assert.deepEqual([state.tool, standing.last], ["ruler", lit]);
  ruler.close();
  assert.equal(state.tool, "path");
  python("ruler");
  assert.deepEqual(open(), [false, true, true]);
  python("");
  assert.deepEqual(open(), [false, false, false]);
});

test("what opens quietly is not named, and nobody closes it for another", () => {
  const { state, python, model } = modelOf("");
  const { standing, ruler, open } = viewOf(model);
  standing.quietly(() => ruler.stand());
  assert.deepEqual([state.tool, standing.last], ["", ruler]);
  python("path");
  python("");
  assert.deepEqual(open(), [false, true, false]);
  ruler.close();
  standing.use(ruler as never);
  assert.equal(state.tool, "ruler");
});

test("another view opens and closes what this one does, and nothing else", () => {
  const { state, model } = modelOf("");
  const [one, other] = [viewOf(model), viewOf(model)];
  one.standing.use(one.ruler);
  one.standing.use(one.path);
  assert.deepEqual([one.open(), other.open(), state.tool], [[true, true, false], [true, true, false], "path"]);
  one.path.close();
  assert.deepEqual([one.open(), other.open(), state.tool], [[false, true, false], [false, true, false], "ruler"]);
  other.ruler.close();
  assert.deepEqual([one.open(), other.open(), state.tool], [[false, false, false], [false, false, false], ""]);
});
