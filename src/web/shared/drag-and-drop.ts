/** Moves rows of a list with the mouse. Touch screens do not support it, so every list needs other ways to move a row. */
import { type DragEvent, useRef, useState } from 'react';

export interface DropTarget {
  /** The row below the pointer. */
  name: string;
  /** Where the dragged row goes. */
  side: 'before' | 'into' | 'after';
}

/** The part of a row at its top and at its bottom that does not mean the inside. */
const EDGE = 0.3;

interface DragAndDropOptions {
  /** True if other rows can be dropped into the row. */
  canEnter?: (name: string) => boolean;
  onDrop: (name: string, target: DropTarget) => void;
}

/** Returns the attributes of a row. `data-drop` is the side on which the dragged row would be dropped. */
export function useDragAndDrop({ canEnter = () => false, onDrop }: DragAndDropOptions) {
  const dragged = useRef<string>(undefined);
  const [target, setTarget] = useState<DropTarget>();
  const end = () => {
    dragged.current = undefined;
    setTarget(undefined);
  };
  return (name: string) => ({
    draggable: true,
    'data-drop': target?.name === name ? target.side : undefined,
    onDragStart(event: DragEvent) {
      dragged.current = name;
      event.dataTransfer.effectAllowed = 'move';
      // Some browsers start no drag without data.
      event.dataTransfer.setData('text/plain', name);
    },
    onDragOver(event: DragEvent) {
      if (dragged.current === undefined || dragged.current === name) return setTarget(undefined);
      event.preventDefault();
      const side = sideOf(event, canEnter(name));
      setTarget((now) => (now?.name === name && now.side === side ? now : { name, side }));
    },
    onDrop(event: DragEvent) {
      event.preventDefault();
      if (dragged.current !== undefined && target !== undefined) onDrop(dragged.current, target);
      end();
    },
    onDragEnd: end,
  });
}

function sideOf({ currentTarget, clientY }: DragEvent, canEnter: boolean): DropTarget['side'] {
  const { top, height } = currentTarget.getBoundingClientRect();
  const part = (clientY - top) / height;
  if (!canEnter) return part < 0.5 ? 'before' : 'after';
  return part < EDGE ? 'before' : part > 1 - EDGE ? 'after' : 'into';
}
