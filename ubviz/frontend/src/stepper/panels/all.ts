/** The panels by name. */

import type { Seen } from "../seen";
import { barrier } from "./barrier";
import { code } from "./code";
import { flags } from "./flags";
import { calls, context, events, hooks, votes } from "./rest";
import { ring } from "./ring";
import { streams } from "./streams";

interface Panel {
  heading: string;
  show(seen: Seen): HTMLElement[];
}

export const PANELS: Readonly<Record<string, Panel>> = {
  code: { heading: "Code", show: code },
  ring: { heading: "Whose turn", show: ring },
  flags: { heading: "Host events", show: flags },
  barrier: { heading: "Barrier", show: barrier },
  hooks: { heading: "Hooks", show: hooks },
  context: { heading: "Forward context", show: context },
  streams: { heading: "Streams", show: streams },
  events: { heading: "Events", show: events },
  calls: { heading: "Call path", show: calls },
  votes: { heading: "Votes", show: votes },
};
