/** What comes after the first picture: the tools, a script of their own. Without it a view works, with fewer keys. */

import type { Wire } from "../base/wire";
import type { Timeline } from "./timeline";

export interface Tools {
  /** A key that the view itself does not use; whether a tool did. */
  press(event: KeyboardEvent): boolean;
  /** Close what was opened last; whether there was anything. */
  escape(): boolean;
  /** Open or close the panel of keys. */
  keys(): void;
  /** The picture was drawn; `base`: more than its front. */
  painted(base: boolean): void;
}

interface Script {
  attach(view: Timeline): Tools;
}

/** The views of a page share it. */
let script: Promise<Script> | null = null;

/** A kernel that is busy answers later, and an older one never: nothing waits for this. */
export async function toolsFor(view: Timeline, wire: Wire): Promise<Tools | null> {
  script ??= wire.get("code:tools").then((bytes) => {
    const source = URL.createObjectURL(new Blob([bytes], { type: "text/javascript" }));
    return import(source) as Promise<Script>;
  });
  const found = await script.catch(() => (script = null));
  return found && !view.signal.aborted ? found.attach(view) : null;
}
