/** What the pointer does to the view. */

import { go, whole } from "./axis";
import type { Item } from "./data";
import { hitLogical, hitWall } from "./hit";
import { rangeOf } from "./logical";
import { aroundMark, choose } from "./actions";
import { max, round } from "../base/numbers";
import type { Gestures } from "./pointer";
import { added, rowOf, soundRows } from "./selection";
import { sameRow } from "./selection";
import type { Timeline } from "./timeline";
import { tipWords } from "./tip";

function hit(view: Timeline, x: number, y: number): Item | null {
  const { picture, scene, axis } = view;
  if (!picture || !scene || !axis) return null;
  if (view.order === "wall") return hitWall(picture, x, y);
  return scene.logical && hitLogical(picture, scene.logical, axis.range, x, y);
}

/** The moment under a pixel, in either order. */
function momentAt(view: Timeline, x: number): number | null {
  const { axis, scene } = view;
  if (!axis) return null;
  const at = axis.at(x);
  if (view.order === "wall") return round(at);
  return scene?.logical ? whole(rangeOf(scene.logical, [at, at]))[0] : null;
}

export function gesturesOf(view: Timeline): Gestures {
  let owed = 0; // pixels that were less than a nanosecond
  const forget = () => {
    view.tip.hide();
    view.link.set("hovered", null);
  };
  return {
    hover(x, y) {
      const item = hit(view, x, y);
      if (!item || !view.scene) return forget();
      const row = rowOf(item);
      view.hovered = item;
      if (sameRow(view.link.get("hovered"), row)) view.request();
      else view.link.set("hovered", row);
      const root = view.shell.root.getBoundingClientRect();
      const stage = view.shell.stage.getBoundingClientRect();
      const words = tipWords(item, view.scene.data, view.scene.index);
      view.tip.show(words, x + stage.left - root.left, y + stage.top - root.top);
    },
    leave: forget,
    click(x, y, add) {
      const item = hit(view, x, y);
      view.tip.hide(); // the details say it all
      if (!add) view.link.set("cursor", momentAt(view, x));
      if (item) {
        const selection = soundRows(view.link.get("selection"));
        choose(view, item, add ? added(selection, rowOf(item)) : [rowOf(item)]);
      } else if (!add) view.link.set("selection", []);
    },
    frame(x, y) {
      const item = hit(view, x, y);
      if (item && view.axis && view.scene) view.goTo(go.frame(view.axis, [item], aroundMark(view)));
    },
    pan(dx) {
      const { axis } = view;
      if (!axis) return;
      owed += dx;
      const pixel = axis.at(1) - axis.at(0);
      const by = view.order === "wall" ? round(-owed * pixel) : -owed * pixel;
      if (by === 0) return;
      owed += by / pixel;
      view.goTo(go.pan(axis, by));
    },
    zoom(factor, x) {
      const { axis, picture } = view;
      if (axis) view.goTo(go.zoom(axis, factor, axis.at(max(x, picture?.layout.gutter ?? 0))));
    },
  };
}
