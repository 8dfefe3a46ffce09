/** The panels that are a few lines: hooks, contexts, events, votes. */

import { make } from "../../base/dom";
import { cut } from "../../base/visible";
import { changed, keysOf, mark, named, rankName, value, who, type Seen } from "../seen";
import { ubatchOf } from "./flags";

/** The mailbox: which hook waits, and for whom. */
export function hooks(seen: Seen): HTMLElement[] {
  const rows = keysOf(seen, "hooks").map((key) => {
    const from = value<number>(seen, "hooks", key, "from");
    const lost = value<number>(seen, "hooks", key, "lost") ?? 0;
    const words = from === undefined
      ? make("span.state.soft", "none waits") : make("b.state", `one of ubatch ${from} waits`);
    return make("li", make("span", "for ", who(seen, key)), mark(words, changed(seen, "hooks", key)),
      ...(lost ? [make("b.wrong", `${lost} lost`)] : []));
  });
  return [make("ul.rows", ...rows)];
}

/** Whose the forward context is, and as what each thread sees itself. */
export function context(seen: Seen): HTMLElement[] {
  const parts: HTMLElement[] = [];
  for (const key of keysOf(seen, "context")) {
    const ubatch = value<number>(seen, "context", key, "ubatch");
    const digest = value<string>(seen, "context", key, "digest");
    const by = value<string>(seen, "context", key, "by");
    const whose = ubatch === undefined ? (by === undefined ? "not seen yet" : "no microbatch's") : `ubatch ${ubatch}'s`;
    parts.push(make("p", rankName(seen, key), "forward context: ",
      mark(make("b.state", whose), changed(seen, "context", key, "ubatch", "digest")),
      ...(digest === undefined ? [] : [make("span.soft", ` ${cut(digest, 16)}`)]),
      ...(by === undefined ? [] : [make("span.soft", " set by "), who(seen, by)])));
  }
  const rows = seen.index.threads.filter((thread) => thread.ubatch !== null).map(({ name }) => {
    const sees = value<number>(seen, "threads", name, "sees");
    const runs = value<string>(seen, "threads", name, "status") === "runs";
    const now = value<number>(seen, "context", "rank 0", "ubatch");
    const wrong = !seen.index.several && runs && sees !== undefined && now !== undefined && now !== sees;
    return make("li", who(seen, name),
      mark(make("span.state", sees === undefined ? "has no context" : `runs as ubatch ${sees}`),
        changed(seen, "threads", name, "sees")),
      ...(wrong ? [make("b.wrong", "the forward context is another's")] : []));
  });
  return [...parts, make("ul.rows", ...rows)];
}

const MOST_EVENTS = 16;

/** The last record of each event, whether it has fired, and which streams wait for it. */
export function events(seen: Seen): HTMLElement[] {
  const keys = keysOf(seen, "events");
  const quiet = (key: string) => !value<unknown[]>(seen, "events", key, "waits") && !changed(seen, "events", key);
  const shown = keys.length <= MOST_EVENTS ? keys : keys.filter((key) => !quiet(key)).slice(0, MOST_EVENTS);
  const rest = keys.length - shown.length;
  return [make("ul.rows", ...shown.map((key) => eventRow(seen, key))),
    ...(rest ? [make("p.soft", `and ${rest} more`)] : [])];
}

function eventRow(seen: Seen, key: string): HTMLElement {
  const record = value<number>(seen, "events", key, "record") ?? 0;
  const fired = value<boolean>(seen, "events", key, "fired");
  const stream = value<string>(seen, "events", key, "stream");
  const waits = value<[string, number, number][]>(seen, "events", key, "waits") ?? [];
  const sign = make("i.diamond", { "aria-hidden": "true" });
  const colour = seen.palette.ubatch(ubatchOf(key));
  sign.style.borderColor = record ? colour : seen.palette.waiting;
  if (record && fired) sign.style.background = colour;
  const words = !record ? "not recorded"
    : fired === undefined ? `record ${record}` : `record ${record} ${fired ? "has fired" : "to come"}`;
  return make("li", sign, named(key),
    mark(make(record ? "b.state" : "span.state", words),
      changed(seen, "events", key, "record", "fired")),
    ...(stream === undefined ? [] : [make("span.soft", "on ", named(stream))]),
    mark(make("span.people", ...waits.map(([name]) => make("span", named(name), " waits"))),
      waits.length > 0 && changed(seen, "events", key, "waits")));
}

/** What each rank has voted. */
export function votes(seen: Seen): HTMLElement[] {
  const rows = keysOf(seen, "votes").map((key) => {
    const vote = value<boolean>(seen, "votes", key, "vote");
    const tokens = value<number>(seen, "votes", key, "num_tokens");
    const threshold = value<number>(seen, "votes", key, "threshold");
    const step = value<number>(seen, "votes", key, "step");
    const words = vote === undefined ? "has not voted" : vote ? "yes" : "no";
    const made = [step === undefined ? "" : `step ${step}`, tokens === undefined ? "" : `${tokens} tokens`,
      threshold === undefined ? "" : `threshold ${threshold}`].filter(Boolean).join(", ");
    return make("li", named(key), mark(make("b.state", words), changed(seen, "votes", key, "vote", "step")),
      make("span.soft", made));
  });
  return [make("ul.rows", ...rows)];
}

const BRANCHES: Record<string, string> = {
  unsplit: "not split", split: "split", overlapped: "overlapped", capture: "captured", replay: "replayed",
};

/** The call path with the branch that was taken, and where one is in it. */
export function calls(seen: Seen): HTMLElement[] {
  return keysOf(seen, "calls").flatMap((key) => {
    const branch = value<string>(seen, "calls", key, "branch");
    const stage = value<string>(seen, "calls", key, "stage");
    const step = value<number>(seen, "calls", key, "step");
    const tokens = value<number>(seen, "calls", key, "tokens");
    const why = value<string>(seen, "calls", key, "why");
    const head = branch === undefined ? "no step has begun"
      : `step ${step}, ${tokens} tokens: ${BRANCHES[branch] ?? branch}`;
    const list = make("ul.calls");
    for (const [depth, name, of, stages] of seen.index.path) {
      const taken = of === "" || of === branch;
      const here = taken && stage !== undefined && stages.includes(stage);
      const item = make("li", of !== "" && taken ? `→\u00a0${name}` : name, ...(here ? [make("b.here", stage!)] : []));
      item.style.paddingInlineStart = `${depth * 16 + 12}px`;
      if (of !== "") item.className = taken ? "ubviz-taken" : "ubviz-untaken";
      if (here) {
        item.classList.add("ubviz-at");
        item.setAttribute("aria-current", "step");
        mark(item, changed(seen, "calls", key, "stage"));
      }
      list.append(item);
    }
    const heading = mark(make("b.state", cut(head, 80)), changed(seen, "calls", key, "branch", "step"));
    return [make("p", rankName(seen, key), heading),
      ...(why ? [make("p.soft", { dir: "auto" }, cut(why, 240))] : []), list];
  });
}
