import { RequestFailure } from '../../api/failure';
import { check, finding, StubClient } from '../../__tests__/samples';
import { ReadinessModel } from '../readiness';

const notebook = (path: string | null) => ({ name: 'x.ipynb', path, unsaved: false });

describe('ReadinessModel', () => {
  it('asks the server once for a new notebook', async () => {
    const client = new StubClient();
    client.check.mockResolvedValue(check({ findings: [finding()] }));
    const model = new ReadinessModel(client);
    await model.follow(notebook('a.ipynb'));
    expect(client.check).toHaveBeenCalledTimes(1);
    expect(client.findings).not.toHaveBeenCalled();
    expect(model.state.findings).toEqual({ value: [finding()] });
  });

  it('keeps the answers when only the unsaved mark changes', async () => {
    const client = new StubClient();
    const model = new ReadinessModel(client);
    await model.follow(notebook('a.ipynb'));
    await model.follow({ ...notebook('a.ipynb'), unsaved: true });
    expect(client.check).toHaveBeenCalledTimes(1);
    expect(model.state.check).not.toBeNull();
    expect(model.state.notebook?.unsaved).toBe(true);
  });

  it('still shows findings when the check fails', async () => {
    const client = new StubClient();
    client.check.mockRejectedValue(new RequestFailure('torn journal', 'move it'));
    client.findings.mockResolvedValue({ schema: 'clusterbridge/lint/1', findings: [finding()] });
    const model = new ReadinessModel(client);
    await model.follow(notebook('a.ipynb'));
    expect(model.state.findings).toEqual({ value: [finding()] });
    expect(model.state.check).toMatchObject({ failure: { message: 'torn journal' } });
  });

  it('drops a late answer for another notebook', async () => {
    const client = new StubClient();
    let answerFirst: (value: ReturnType<typeof check>) => void = () => undefined;
    client.check.mockReturnValueOnce(new Promise(resolve => (answerFirst = resolve)));
    const model = new ReadinessModel(client);
    const first = model.follow(notebook('a.ipynb'));
    await model.follow(notebook('b.ipynb'));
    answerFirst(check({ findings: [finding()] }));
    await first;
    expect(model.state.notebook?.path).toBe('b.ipynb');
    expect(model.state.findings).toEqual({ value: [] });
  });

  it('asks nothing without a notebook on the server', async () => {
    const client = new StubClient();
    const model = new ReadinessModel(client);
    await model.follow(null);
    await model.follow(notebook(null));
    expect(client.check).not.toHaveBeenCalled();
  });
});
