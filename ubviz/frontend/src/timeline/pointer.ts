/** Pointer and wheel on the stage: hover, click, drag, pinch. Says what is meant, in pixels of the stage. */

import { atEnd, listen } from "../base/dom";
import { abs, max, min } from "../base/numbers";

export interface Gestures {
  hover(x: number, y: number): void;
  leave(): void;
  click(x: number, y: number, add: boolean): void;
  frame(x: number, y: number): void;
  /** The picture follows the pointer by so many pixels. */
  pan(dx: number): void;
  zoom(factor: number, x: number): void;
}

/** Less than this is a click with an unsteady hand. */
const STILL = 4;
const LINE = 16;

interface Point {
  x: number;
  y: number;
}

/** Fingers that all but touch would zoom without bounds. */
const apart = (a: Point, b: Point) => max(Math.hypot(a.x - b.x, a.y - b.y), 8);

export function listenToPointer(stage: HTMLElement, gestures: Gestures, signal: AbortSignal): void {
  const held = new Map<number, Point>();
  let way = 0; // how far the pointers that are held have come
  let frame = 0;
  let at: Point | null = null; // where a pointer hovers that is not held

  const place = (event: MouseEvent): Point => {
    const box = stage.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const hover = () => {
    if (at && held.size === 0) gestures.hover(at.x, at.y);
  };
  const hoverSoon = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      hover();
    });
  };
  atEnd(signal, () => cancelAnimationFrame(frame));

  const drag = (event: PointerEvent, old: Point, now: Point) => {
    const other = [...held].find(([id]) => id !== event.pointerId)?.[1];
    if (!other) return gestures.pan(now.x - old.x);
    gestures.zoom(apart(now, other) / apart(old, other), (now.x + other.x) / 2);
    gestures.pan((now.x - old.x) / 2);
  };

  listen(stage, "pointerdown", (event) => {
    if (event.button !== 0) return;
    stage.focus({ preventScroll: true, focusVisible: false } as FocusOptions); // the strong ring is for keys
    stage.setPointerCapture(event.pointerId);
    if (held.size === 0) way = 0;
    held.set(event.pointerId, place(event));
  }, signal);

  listen(stage, "pointermove", (event) => {
    const old = held.get(event.pointerId);
    const now = place(event);
    if (!old) {
      at = event.pointerType === "touch" ? null : now;
      return hover(); // at once: browsers send one movement a frame, right before they draw it
    }
    way += Math.hypot(now.x - old.x, now.y - old.y);
    if (way >= STILL && !stage.classList.contains("ubviz-dragging")) {
      stage.classList.add("ubviz-dragging");
      gestures.leave();
    }
    if (way >= STILL) drag(event, old, now);
    held.set(event.pointerId, now);
  }, signal);

  const release = (event: PointerEvent, clicked: boolean) => {
    if (!held.delete(event.pointerId) || held.size > 0) return;
    stage.classList.remove("ubviz-dragging");
    if (!clicked || way >= STILL) return;
    const { x, y } = place(event);
    gestures.click(x, y, event.ctrlKey || event.metaKey || event.shiftKey);
  };
  listen(stage, "pointerup", (event) => release(event, true), signal);
  listen(stage, "pointercancel", (event) => release(event, false), signal);
  listen(stage, "lostpointercapture", (event) => release(event, false), signal);

  const gone = () => {
    at = null;
    if (held.size === 0) gestures.leave();
  };
  listen(stage, "pointerleave", gone, signal);

  listen(stage, "dblclick", (event) => {
    const { x, y } = place(event);
    gestures.frame(x, y);
  }, signal);

  listen(stage, "wheel", (event) => {
    const unit = event.deltaMode === 0 ? 1 : event.deltaMode === 1 ? LINE : stage.clientHeight;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    const pinch = event.ctrlKey || event.metaKey;
    if (!pinch && (event.shiftKey || abs(dx) > abs(dy))) {
      event.preventDefault();
      gestures.pan(-(abs(dx) > abs(dy) ? dx : dy));
      hoverSoon(); // something else is under the pointer now
    } else if (pinch || stage.matches(":focus")) {
      event.preventDefault();
      gestures.zoom(Math.exp(-clamp(dy, 160) * (abs(dy) < 20 && pinch ? 0.01 : 0.002)), place(event).x);
      hoverSoon();
    }
  }, signal, { passive: false });
}

const clamp = (value: number, most: number): number => min(max(value, -most), most);
