# docker build -t kernsemble . && docker run --rm -p 8888:8888 kernsemble
# JupyterLab with all notebooks. In a notebook, scale = "paper" shows the full results from the committed evidence.
# A Binder-like service builds this file as it is.
FROM python:3.11-slim-bookworm
RUN apt-get update && apt-get install --yes --no-install-recommends git make && rm -rf /var/lib/apt/lists/*
ARG NB_USER=reader
ARG NB_UID=1000
RUN useradd --create-home --uid ${NB_UID} ${NB_USER}
COPY --chown=${NB_UID} . /home/${NB_USER}/kernsemble
USER ${NB_USER}
WORKDIR /home/${NB_USER}/kernsemble
RUN make setup data
ENV PATH="/home/${NB_USER}/kernsemble/.venv/bin:${PATH}"
EXPOSE 8888
CMD ["make", "lab", "LAB_IP=0.0.0.0"]
