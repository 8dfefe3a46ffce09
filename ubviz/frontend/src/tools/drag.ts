/** Pointers on the stage that a tool wants for itself, before the view takes them for panning and clicks. */

import { listen } from "../base/dom";
import type { Shared } from "./tool";

export interface Point {
  x: number;
  y: number;
}

export interface DragUser {
  /** Whether a pointer that goes down is the tool's. */
  takes(event: PointerEvent): boolean;
  move(from: Point, to: Point): void;
  end(from: Point, to: Point): void;
  /** It went down and up at one place. */
  click(at: Point, event: PointerEvent): void;
  /** A pointer that is not down; null when it leaves. */
  hover?(at: Point | null): void;
}

/** Less than this is a click with an unsteady hand. */
const STILL = 4;

export function listenToDrags({ view, signal }: Shared, users: readonly DragUser[]): void {
  const { stage } = view.shell;
  let held: { id: number; user: DragUser; from: Point; far: boolean } | null = null;
  const place = (event: PointerEvent): Point => {
    const box = stage.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const options = { capture: true };
  const mine = (event: PointerEvent) => held?.id === event.pointerId;
  const free = (event: PointerEvent, released: boolean) => {
    if (!held || !mine(event)) return;
    const { user, from, far } = held;
    held = null;
    event.stopImmediatePropagation();
    if (far) user.end(from, place(event));
    else if (released) user.click(from, event);
  };

  listen(stage, "pointerdown", (event) => {
    const user = event.button === 0 && !held ? users.find((each) => each.takes(event)) : undefined;
    if (!user) return;
    event.stopImmediatePropagation();
    stage.focus({ preventScroll: true, focusVisible: false } as FocusOptions);
    stage.setPointerCapture(event.pointerId);
    view.tip.hide();
    held = { id: event.pointerId, user, from: place(event), far: false };
  }, signal, options);
  listen(stage, "pointermove", (event) => {
    if (!held) return users.forEach((user) => user.hover?.(place(event)));
    if (!mine(event)) return;
    event.stopImmediatePropagation();
    const now = place(event);
    held.far ||= Math.hypot(now.x - held.from.x, now.y - held.from.y) >= STILL;
    if (held.far) held.user.move(held.from, now);
  }, signal, options);
  listen(stage, "pointerup", (event) => free(event, true), signal, options);
  for (const type of ["pointercancel", "lostpointercapture"] as const) {
    listen(stage, type, (event) => free(event, false), signal, options);
  }
  listen(stage, "pointerleave", () => users.forEach((user) => user.hover?.(null)), signal);
}
