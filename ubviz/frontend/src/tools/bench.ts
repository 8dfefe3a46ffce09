/** All tools of a view: which there are, their keys, their menu. What is closed costs nothing. */

import { AreaTool } from "./area";
import { Bands } from "./bands";
import { ConeTool } from "./cone_tool";
import { listenToDrags } from "./drag";
import { make } from "../base/dom";
import type { KeysPanel } from "../base/keys_panel";
import type { Tools } from "../timeline/added";
import type { Timeline } from "../timeline/timeline";
import { GraphEdges } from "./edges";
import { keysOf } from "./keys";
import { Lanes } from "./lanes";
import { Layer } from "./layer";
import { List } from "./list";
import { LitNumbers } from "./lit";
import { Overview } from "./map";
import { Menu } from "./menu";
import { Notes } from "./notes";
import { Path } from "./path";
import { Ruler } from "./ruler";
import { Search } from "./search_bar";
import { Standing } from "./standing";
import type { Shared, Tool } from "./tool";

class Bench implements Tools {
  readonly tools: Tool[];
  readonly #keys: KeysPanel;
  readonly #menu: Menu;
  readonly #shared: Shared;
  /** Keys beside the one of each tool. */
  readonly #more: ReadonlyMap<string, () => void>;
  readonly #wide: () => void;
  readonly #lit: LitNumbers;
  readonly #standing: Standing;

  constructor(view: Timeline) {
    const { signal, shell: { stage } } = view;
    const dock = make("div.dock");
    stage.parentElement!.after(dock);
    const standing = (this.#standing = new Standing(view.link));
    this.#shared = { view, signal, dock, layer: new Layer(view), standing };
    const overview = new Overview(this.#shared);
    const search = new Search(this.#shared);
    const [area, ruler, cone] = [new AreaTool(this.#shared), new Ruler(this.#shared), new ConeTool(this.#shared)];
    const lanes = new Lanes(this.#shared);
    this.#lit = new LitNumbers(this.#shared);
    this.tools = [
      search, new List(this.#shared), overview, area, ruler, part(cone, "past"), part(cone, "future"),
      new Path(this.#shared), lanes, new Notes(this.#shared), ...rare(this.#shared),
    ];
    this.#more = new Map([
      [",", () => search.step(-1)], [".", () => search.step(1)], ["h", () => cone.hop()], ["x", () => lanes.hide()],
      ["k", () => lanes.shift(-1)], ["j", () => lanes.shift(1)],
    ]);
    this.#wide = () => area.widen();
    listenToDrags(this.#shared, [area, ruler]);
    this.#keys = keysOf(view);
    this.#menu = new Menu(view, this.tools, (tool) => standing.use(tool));
    standing.begin([...this.tools.filter((tool) => tool.word), this.#lit]);
  }

  press(event: KeyboardEvent): boolean {
    if (event.isComposing) return false;
    const key = event.key.toLowerCase();
    const more = event.key === "R" && event.shiftKey ? this.#wide : this.#more.get(key);
    const tool = this.tools.find((each) => each.key === key);
    if (more) more();
    else if (tool) this.#standing.use(tool);
    return tool !== undefined || more !== undefined;
  }

  escape(): boolean {
    if (this.#keys.open) this.#keys.toggle();
    else if (this.#menu.open) this.#menu.toggle();
    else {
      const { last } = this.#standing;
      last?.close();
      return last !== undefined;
    }
    return true;
  }

  keys(): void {
    this.#keys.toggle();
  }

  painted(base: boolean): void {
    for (const tool of [...this.tools, this.#lit]) if (tool.open) tool.painted?.(base);
    if (base) this.#shared.layer.paint();
  }
}

/** Tools that few recordings have something for are in the menu of those that do. */
function rare(shared: Shared): Tool[] {
  const { graphs, bands } = shared.view.scene!.index;
  return [...(graphs ? [new GraphEdges(shared)] : []), ...(bands.length ? [new Bands(shared)] : [])];
}

/** The past and the future are one panel, and two keys. */
function part(cone: ConeTool, way: "past" | "future"): Tool {
  return {
    name: way === "past" ? "Past: what must come before" : "Future: what must come after",
    key: way === "past" ? "p" : "n",
    get open() { return cone.isShowing(way); },
    word: way,
    use: () => cone.show(way),
    stand: () => cone.stand(way),
    close: () => cone.close(),
    painted: (base) => cone.painted(base),
  };
}

export const attach = (view: Timeline): Tools => new Bench(view);
