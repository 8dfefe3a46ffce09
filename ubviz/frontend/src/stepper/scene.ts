/** One recording as it has come to this page: its index, the way through it, and the parts that were asked for. */

import type { Source } from "../base/excerpt";
import type { Wire } from "../base/wire";
import type { Index, NavBlock, PartBlock } from "./model";
import { Nav } from "./nav";
import { Part } from "./part";

export class Scene {
  sources: readonly Source[] | null = null;
  readonly #parts = new Map<number, Part>();
  readonly #asked = new Set<number>();

  /** `came`: a part has come; `failed`: one did not, and is asked for again when it is needed again. */
  constructor(
    readonly index: Index, readonly nav: Nav, private readonly wire: Wire,
    private readonly came: () => void, private readonly failed: (error: unknown) => void,
  ) {}

  static async of(index: Index, wire: Wire, came: () => void, failed: (error: unknown) => void): Promise<Scene> {
    return new Scene(index, new Nav(await wire.json<NavBlock>("nav")), wire, came, failed);
  }

  /** The part of a trace event; null where it has still to come. */
  part(at: number): Part | null {
    const number = Math.floor(at / this.index.part);
    const found = this.#parts.get(number);
    if (!found && !this.#asked.has(number)) void this.#ask(number);
    return found ?? null;
  }

  async #ask(number: number): Promise<void> {
    this.#asked.add(number);
    try {
      const block = await this.wire.json<PartBlock>(`part:${number}`);
      this.#parts.set(number, new Part(number * this.index.part, block));
      this.came();
    } catch (error) {
      this.#asked.delete(number);
      this.failed(error);
    }
  }

  async loadSources(): Promise<void> {
    this.sources = await this.wire.json<Source[]>("sources");
  }
}
