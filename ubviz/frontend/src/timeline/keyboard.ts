/** Who gets a key: the stage, what is open in front of it, or the notebook. */

import { perform } from "./actions";
import { listenToPresses } from "../base/press";
import { commandOf } from "./keys";
import type { Timeline } from "./timeline";

export function listenToKeys(view: Timeline): void {
  const { root, stage } = view.shell;
  listenToPresses(root, (event) => {
    const onStage = event.target === stage;
    const writes = event.target instanceof HTMLInputElement;
    const everywhere = event.key === "Escape" || (event.key === "?" && !writes);
    const command = onStage || everywhere ? commandOf(event) : null;
    if (command) {
      event.preventDefault();
      view.tip.hide();
      perform(view, command);
    } else if (onStage && view.tools?.press(event)) event.preventDefault();
  }, view.signal);
}
