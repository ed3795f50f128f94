/* The highlighted item of a list that follows the text of a field. Enter picks it. If it was found for an earlier text
   (`isOld`), Enter waits for the items of the present one (`isCurrent`), and picks the first, or the one that the person
   had moved to if it is still listed. Typing, moving or leaving the field ends the wait. `rest`: the highlight before any
   move. */
import { useEffect, useState } from "react";

export function useHighlight({ items, isCurrent, isOld, rest = 0, field, pick }) {
  const [on, setOn] = useState(null);
  const [waits, setWaits] = useState(false);
  const moved = items.findIndex((item) => item.id === on);
  const at = moved < 0 ? rest : moved;

  useEffect(() => {
    if (!waits || !isCurrent) return;
    setWaits(false);
    if (document.activeElement === field.current) pick(on === null ? items[0] : items[moved]);
  }, [waits, isCurrent]);

  const move = (to) => {
    setOn(to === null ? null : items[to]?.id ?? null);
    setWaits(false);
  };
  const enter = () => {
    if (isOld(items[at])) setWaits(true);
    else pick(items[at]);
  };
  return { at, move, enter };
}
