/** The timeline, as anywidget takes it. */

import { widget } from "./base/render";
import type { Model } from "./timeline/model";
import { Timeline } from "./timeline/timeline";

export default widget<Model>((model, el, signal) => new Timeline(model, el, signal));
