import { useState } from 'react';
import { type FieldValues, useForm } from 'react-hook-form';
import type { Collection } from '../../schema/model/model.js';
import { COLLECTION_META_TABLE } from '../../schema/normal-form/collection-meta.js';
import { EditorForm } from './editor-frame.js';
import { COLLECTION_SECTIONS, FOLDER_SECTIONS } from './members.js';
import { checkedBy } from './resolver.js';
import { Sections } from './sections.js';
import { useChoices } from './use-choices.js';
import { type Edit, useKeep } from './use-keep.js';

/**
 * @param props.document with the draft on top; a folder has no `schema`
 * @param props.onDone called when it is in the draft, or cancelled
 */
export function CollectionForm({ document, onDone }: { document: Collection; onDone: () => void }) {
  const { collection } = document;
  const form = useForm<FieldValues>({
    defaultValues: structuredClone(document),
    resolver: checkedBy({ meta: COLLECTION_META_TABLE }),
  });
  const keeping = useKeep({ names: [collection], form });
  const choices = useChoices(collection);
  const [open, setOpen] = useState(['Appearance', 'Position-in-the-tree']);
  const edit: Edit = (editor) => {
    const { meta, schema } = form.getValues() as Collection;
    const now = editor.collection(collection) ?? document;
    editor.put('collections', {
      ...now,
      meta,
      schema: now.schema && { ...now.schema, comment: schema?.comment || null },
    });
  };
  const keep = async (unchecked: boolean) => (await keeping.keep(edit, { unchecked })) && onDone();
  return (
    <EditorForm keeping={keeping} form={form} keep={keep} onCancel={onDone}>
      <Sections
        sections={document.schema === null ? FOLDER_SECTIONS : COLLECTION_SECTIONS}
        choices={choices}
        open={open}
        onOpen={setOpen}
      />
    </EditorForm>
  );
}
